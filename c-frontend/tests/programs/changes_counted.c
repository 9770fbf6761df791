// Tests in every step of what points count or set, and of a residual that is scaled by what the program is given.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#define N 30

int sand[N][N], next[N][N], n = 2;
double u[N][N], v[N][N];

static int topple(int (*from)[N], int (*to)[N], int n)
{
    int i, j, moved = 0;
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < n - 1; j++) {
            int in = (from[i - 1][j] > 3) + (from[i + 1][j] > 3) + (from[i][j - 1] > 3) + (from[i][j + 1] > 3);
            if (from[i][j] > 3) {
                to[i][j] = from[i][j] - 4 + in;
                moved++;
            } else {
                to[i][j] = from[i][j] + in;
                if (in > 0) moved++;
            }
        }
    return moved;
}

static double residual(const double *new, const double *old, int n, int m)
{
    double sum = 0.0;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) sum += (new[i * m + j] - old[i * m + j]) * (new[i * m + j] - old[i * m + j]);
    return sqrt(sum) / ((n - 2) * (m - 2));
}

int main(void)
{
    int (*now)[N] = sand, (*then)[N] = next, (*turn)[N], step, moved = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            sand[i][j] = i % 29 && j % 29 ? 2 + (i * 5 + j * 3) % 4 : 0;
            u[i][j] = v[i][j] = i ? 0.0 : 1.0 + j % 5;
        }
    for (step = 0; step < 900 && moved != 0; step++) {
        moved = 0;
        moved = topple(now, then, N);
        turn = now;
        now = then;
        then = turn;
    }
    printf("%d %d %d %d\n", step, moved, now[5][7], now[N / 2][N / 2]);

    bool settled = false;
    for (step = 0; !settled; step++) {
        settled = true;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                if (settled && fabs(v[i][j] - u[i][j]) > 0.001) settled = false;
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
    }
    printf("%d %d %a\n", step, settled, u[4][5]);

    double *old = calloc(N * N, sizeof(double)), *new = calloc(N * N, sizeof(double)), error = 1;
    for (int j = 0; j < N; j++) old[j] = new[j] = 3.0 + j % 4;
    for (step = 0; error > 1e-6 && step < 2000; step++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                new[i * N + j] = 0.25 * (old[(i - 1) * N + j] + old[(i + 1) * N + j] + old[i * N + j - 1] + old[i * N + j + 1]);
        error = residual(new, old, N, N);
        error /= n;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) old[i * N + j] = new[i * N + j];
    }
    printf("%d %a %a\n", step, error, old[4 * N + 5]);

    // A maximum that is tested, and that the arrays are computed of, is more than a test.
    double most = 2;
    for (step = 0; most > 1.9 && step < 30; step++) {
        most = 0;
        for (int i = 1; i < N - 1; i++) {
            v[0][i] = u[0][i - 1] + u[0][i + 1];
            most = fmax(most, fabs(v[0][i]));
        }
        for (int i = 1; i < N - 1; i++) u[0][i] = v[0][i] / most;
    }
    printf("%d %a %a\n", step, most, u[0][N / 2]);
    return 0;
}
