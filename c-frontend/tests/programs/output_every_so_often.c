/* Output every so many steps, times that are counted, a function of its own between steps. */
#include <stdio.h>
#ifndef STEPS
#define STEPS 47
#endif
#define N 40
#define M 33
static double a[N][M], b[N][M];
static double total(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            sum += a[i][j];
    return sum;
}
int main(void)
{
    int i, j, t, frames = 0;
    double time = 0.0, dt = 0.1, next = 0.75;
    for (i = 0; i < N; i++)
        for (j = 0; j < M; j++)
            a[i][j] = b[i][j] = (i * 7 + j * 3) % 11;
#pragma scop
    for (t = 0; t < STEPS; t++) {
        if (t % 10 == 0) {
            printf("step %d time %a sum %a\n", t, time, total());
            frames++;
        }
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++)
                b[i][j] = a[i][j] + dt * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - 4 * a[i][j]);
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++)
                a[i][j] = b[i][j];
        time += dt;
        if (time >= next) {
            printf("at %a: %a %d\n", time, a[N / 2][M / 2], t);
            next += 0.75;
            a[3][3] += 1;
        }
    }
#pragma endscop
    printf("%d %d %a %a\n", t, frames, time, next);
    for (i = 0; i < N; i++)
        for (j = 0; j < M; j++)
            printf("%a %a\n", a[i][j], b[i][j]);
    return 0;
}
