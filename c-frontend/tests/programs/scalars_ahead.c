/* Sums of what their own loop overwrites, which are printed or tested in every step: they are computed before the tiles. */
#include <math.h>
#include <stdio.h>

#ifndef REAL
#define REAL double
#endif
#define N 43
#define M 57

static REAL a[N][M], b[N][M], line[M], next[M];

static double greater(double x, double y) { return x > y ? x : y; }

static void start(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) a[i][j] = b[i][j] = (i * 7 + j * 3) % 11 * 0.125f;
    for (int j = 0; j < M; j++) line[j] = next[j] = j % 7 * 0.25f;
}

/* The copy that moves to the new values says how far; then the sweep. */
static int copies_first(int steps)
{
    int i, j, t;
    double largest, sum = 0, kept[64];
    for (t = 0; t < steps; t++) {
        largest = 0;
        {
            for (i = 1; i < N - 1; i++)
                for (j = 1; j < M - 1; j++) {
                    double moved = fabs(b[i][j] - a[i][j]);
                    largest = greater(largest, moved);
                    sum += a[i][j] * b[i][j];
                    a[i][j] = b[i][j];
                }
            for (i = 1; i < N - 1; i++)
                for (j = 1; j < M - 1; j++) b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        }
        kept[t % 64] = largest;
        if (t > 0 && largest < 0.05) break;
    }
    for (int k = 0; k < steps && k < 64 && k <= t; k++) printf("%.17g\n", kept[k]);
    printf("%d %d %d %.17g\n", i, j, t, sum);
    return t;
}

/* Each step has a sum of its new values, behind, and one of what the copy overwrites, before it. */
static void both(int steps)
{
    for (int t = 0; t < steps; t++) {
        double before = 0, change = 0;
        for (int j = 1; j < M - 1; j++) {
            change += fabs(next[j] - line[j]);
            line[j] = next[j];
        }
        for (int j = 1; j < M - 1; j++) {
            REAL left = line[j - 1], right = line[j + 1], mean = 0.5f * (left + right);
            mean = mean * 0.75f + 0.25f * line[j];
            next[j] = mean;
            before += (double)mean * mean;
        }
        printf("%.17g %.17g\n", change, before);
    }
}

int main(void)
{
    start();
    int steps = copies_first(30);
    both(9);
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) sum += a[i][j] * (i + 2 * j) + b[i][j];
    for (int j = 0; j < M; j++) sum += line[j] * j;
    printf("%d %.17g\n", steps, sum);
    return 0;
}
