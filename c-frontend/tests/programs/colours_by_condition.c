#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 300
#endif
#ifndef TOL
#define TOL 1e-2
#endif

/* Neighbours beyond the edges are 0; the change is asked for behind the assignment. */
static int guarded(double *u, const double *f, int n)
{
    int round;
    for (round = 0; round < STEPS; round++) {
        double most = 0.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if ((i + j) % 2 != 0) continue;
                double left = (j > 0) ? u[i * n + (j - 1)] : 0.0, right = (j < n - 1) ? u[i * n + (j + 1)] : 0.0;
                double up = (i > 0) ? u[(i - 1) * n + j] : 0.0, down = (i < n - 1) ? u[(i + 1) * n + j] : 0.0;
                double old = u[i * n + j];
                u[i * n + j] = (left + right + up + down + f[i * n + j]) / 4.0;
                double change = fabs(u[i * n + j] - old);
                if (change > most) most = change;
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if ((i + j) % 2 != 1) continue;
                double left = (j > 0) ? u[i * n + (j - 1)] : 0.0, right = (j < n - 1) ? u[i * n + (j + 1)] : 0.0;
                double up = (i > 0) ? u[(i - 1) * n + j] : 0.0, down = (i < n - 1) ? u[(i + 1) * n + j] : 0.0;
                double old = u[i * n + j];
                u[i * n + j] = (left + right + up + down + f[i * n + j]) / 4.0;
                double change = fabs(u[i * n + j] - old);
                if (change > most) most = change;
            }
        if (most < TOL) break;
    }
    return round;
}

static float v[N][N + 5];

/* What is assigned is rounded to `float` before it is compared. */
static int rounded(void)
{
    float most = 1;
    int round = 0;
    while (most > (float)TOL && round < STEPS) {
        most = 0.0f;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N + 4; j++)
                if ((i + j) & 1) {
                    float old = v[i][j];
                    v[i][j] += 1.1 * (0.25 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]) - v[i][j]);
                    most = fmaxf(most, fabsf(v[i][j] - old));
                }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N + 4; j++)
                if (!((i + j) & 1)) {
                    float old = v[i][j];
                    v[i][j] += 1.1 * (0.25 * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1]) - v[i][j]);
                    most = fmaxf(most, fabsf(v[i][j] - old));
                }
        round++;
    }
    printf("%.9g\n", most);
    return round;
}

int main(void)
{
    double *u = malloc(N * N * sizeof *u), *f = malloc(N * N * sizeof *f);
    for (int i = 0; i < N * N; i++) {
        u[i] = i % 11;
        f[i] = i % 7 - 3;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N + 5; j++) v[i][j] = (i * 5 + j * 3) % 13;
    printf("%d %d\n", guarded(u, f, N), rounded());
    for (int i = 0; i < N * N; i++) printf("%a\n", u[i]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N + 5; j++) printf("%a\n", (double)v[i][j]);
    return 0;
}
