/* The sweep along rows of adi (PolyBench 4.2), whose arrays have one orientation: tridiagonal systems, forward and back. The forward
 * recurrence runs in tiles of a single step, as the way back needs whole lines. */
#include <stdio.h>
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 7
#endif
static double u[N][N], p[N][N], q[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            u[i][j] = (double)(i + N - j) / N;
            p[i][j] = (double)(i * j % 5) / 16;
            q[i][j] = 0.0;
        }
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                q[i][j] = (0.375 * u[i - 1][j] + 0.25 * u[i][j] + 0.375 * u[i + 1][j] + 0.75 * q[i][j - 1]) / 1.75;
        for (int i = 1; i < N - 1; i++)
            for (int j = N - 2; j >= 1; j--) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) printf("%a %a\n", u[i][j], q[i][j]);
    return 0;
}
