/* A rod whose ends are computed in every step, two steps per round with buffers that are numbers. */
#include <stdio.h>
#define N 90
static double u[2][N];

int main(void)
{
    const double left = 1.25;
    int i;
    for (i = 0; i < N; i++) u[0][i] = u[1][i] = (double)(i * 7 % 13);
#pragma scop
    for (int t = 3; t <= 22; t += 2) {
        for (i = 1; i < N - 1; i++) u[(t + 1) % 2][i] = 0.5 * (u[t % 2][i - 1] + u[t % 2][i + 1]);
        u[(t + 1) % 2][0] = left;
        u[(t + 1) % 2][N - 1] = u[(t + 1) % 2][N - 2];
        for (i = 1; i < N - 1; i++) u[t % 2][i] = 0.25 * (u[(t + 1) % 2][i - 1] + 3 * u[(t + 1) % 2][i + 1]);
        u[t % 2][0] = 0.5 * u[t % 2][1];
    }
#pragma endscop
    for (int k = 0; k < N; k++) printf("%a %a\n", u[0][k], u[1][k]);
    printf("%d\n", i);
    return 0;
}
