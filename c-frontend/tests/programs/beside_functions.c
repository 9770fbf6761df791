/* Between the loops of a step: a function that no tile computes, called twice, a source, and a trace. */
#include <math.h>
#include <stdio.h>
#ifndef STEPS
#define STEPS 12
#endif
#define N 20
static double h[N + 2][N + 2], q[N + 2][N + 2], next[N + 2][N + 2], trace[STEPS + 1];
static void reflected(double a[N + 2][N + 2], double sign)
{
    for (int k = 0; k < N + 2; k++) {
        a[k][0] = sign * a[k][1];
        a[k][N + 1] = a[k][N];
        a[0][k] = sign * a[1][k];
        a[N + 1][k] = a[N][k];
    }
}
int main(void)
{
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++) h[i][j] = 1 + (i * 3 + j * 5) % 7 * 0.1;
    for (int t = 0; t < STEPS; t++) {
        reflected(h, 1);
        reflected(q, -1);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++) {
                next[i][j] = 0.25 * (h[i - 1][j] + h[i + 1][j] + h[i][j - 1] + h[i][j + 1]);
                next[i][j] -= 0.1 * (q[i + 1][j] - q[i - 1][j]);
            }
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++) q[i][j] -= 0.1 * (h[i][j + 1] - h[i][j - 1]);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++) h[i][j] = next[i][j];
        h[N / 2][N / 3] += exp(-0.1 * t);
        trace[t] = h[N / 2][N / 2];
    }
    for (int t = 0; t < STEPS; t++) printf("%a\n", trace[t]);
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++) printf("%a %a\n", h[i][j], q[i][j]);
    return 0;
}
