/* What of adi (PolyBench 4.2) is a sweep in order: forward recurrences along rows and along columns, the arrays of both in one
 * orientation. */
#include <stdio.h>
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 9
#endif
static double u[N][N], q[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            u[i][j] = (double)(i + N - j) / N;
            q[i][j] = (double)(i * j % 7) / 8;
        }
#pragma scop
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                q[i][j] = (0.25 * u[i][j] + 0.375 * u[i + 1][j] + 0.75 * q[i][j - 1]) / 1.75;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                u[i][j] = (0.5 * q[i][j] + 0.25 * q[i][j + 1] + 0.375 * u[i - 1][j]) / 1.375;
    }
#pragma endscop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) printf("%a %a\n", u[i][j], q[i][j]);
    return 0;
}
