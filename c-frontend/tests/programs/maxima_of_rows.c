/* Maxima and sums of rows, which are merged behind each row; sums of absolute values as integers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif
#define N 60

static REAL u[N][N], v[N][N], flat[N * N];

static void reset(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) flat[i * N + j] = u[i][j] = v[i][j] = i == 0 ? 100 : 0;
}

static void show(int steps, double change)
{
    printf("%d %a\n", steps, change);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) printf("%a %a\n", (double)u[i][j], (double)flat[i * N + j]);
    reset();
}

static REAL swept(REAL *row, const REAL *above, const REAL *below)
{
    REAL most = 0;
    for (int j = 1; j < N - 1; j++) {
        REAL old = row[j];
        row[j] = (row[j - 1] + row[j + 1] + above[j] + below[j]) / 4;
        most = fmax(most, fabs(row[j] - old));
    }
    return most;
}

int main(void)
{
    int steps = 0;
    REAL most = 1, row_most, sum = 1, total = 0;
    reset();
    while (most > 0.05) {
        most = 0;
        for (int i = 1; i < N - 1; i++) {
            row_most = 0;
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
                REAL d = fabs(v[i][j] - u[i][j]);
                if (d > row_most) row_most = d;
            }
            if (row_most > most) most = row_most;
        }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
        steps++;
    }
    show(steps, most);
    for (steps = 0, most = 1; most > 0.05; steps++) {
        most = 0;
        for (int i = 1; i < N - 1; i++) {
            REAL own = swept(u[i], u[i - 1], u[i + 1]);
            if (own > most) most = own;
        }
    }
    show(steps, most);
    for (steps = 0; sum > 40; steps++) {
        sum = 0;
        for (int i = 1; i < N - 1; i++) {
            REAL row = 0;
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) / 4;
                row += (v[i][j] - u[i][j]) * (v[i][j] - u[i][j]);
            }
            sum += row;
        }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
    }
    show(steps, sum);
    int done = 0;
    for (steps = 0; !done; steps++) {
        total = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                int at = i * N + j;
                REAL held = flat[at];
                flat[at] = (held + flat[at - N] + flat[at + N] + flat[at - 1] + flat[at + 1]) / 5;
                total += abs(flat[at] - held);
            }
        if (total / 4 < 9) done = 1;
    }
    show(steps, total);
#if !defined(__SANITIZE_ADDRESS__)
    /* What no `int` holds is left open, and decides nothing. A sanitizer would end the program. */
    for (int j = 0; j < N; j++) flat[j] = 1e10;
    for (steps = 0, done = 0; !done && steps < 40; steps++) {
        total = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                int at = i * N + j;
                REAL held = flat[at];
                flat[at] = (held + flat[at - N] + flat[at + N] + flat[at - 1] + flat[at + 1]) / 5;
                total += abs(flat[at] - held);
            }
        if (total < 9) done = 1;
    }
    show(steps, total);
#endif
    return 0;
}
