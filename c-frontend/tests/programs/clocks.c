/* Clocks around each step, a line for each, time that is counted in floating point. */
#include <stdio.h>
#include <time.h>
#define N 60
static double u[N], v[N];
int main(void)
{
    clock_t begin, spent = 0;
    double now = 0.0, end = 0.9, dt = 0.05;
    int saved = 0;
    for (int i = 0; i < N; i++) u[i] = v[i] = i * i % 13;
#pragma scop
    while (now < end) {
        begin = clock();
        for (int i = 1; i < N - 1; i++) v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
        spent += clock() - begin;
        now += dt;
        printf("now %a\n", now);
        if (saved < 3 && now > 0.2 * (saved + 1)) { printf("saved %a\n", u[7]); saved++; }
    }
#pragma endscop
    printf("%a %d %s\n", now, saved, spent < 0 ? "wrong" : "right");
    for (int i = 0; i < N; i++) printf("%a\n", u[i]);
    return 0;
}
