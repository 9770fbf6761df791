/* Pointers that take turns at the beginning of a step, by a function that says whether anything has changed; and three of them
 * between two loops, with output of every third step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 400
#endif
enum { N = 27, M = 35 };
static double *now, *before;

static int step(void)
{
    int settled = 1;
    double *other = before;
    before = now;
    now = other;
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < M - 1; j++) {
            now[i * M + j] = 0.25 * (before[i * M + j - 1] + before[i * M + j + 1] + before[(i - 1) * M + j] + before[(i + 1) * M + j]);
            if (settled && fabs(now[i * M + j] - before[i * M + j]) > 0.01) settled = 0;
        }
    return settled;
}

static void waves(float *a, float *b, float *c, int steps)
{
    float *first = a, *spare;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < N * M; i++) c[i] = 0.5f * c[i];
        spare = a;
        a = b;
        b = c;
        c = spare;
        if (t % 3 == 1) printf("%d: %a %a %d\n", t, (double)a[M + 1], (double)c[M + 2], spare == c);
        for (int i = 1; i < N * M - 1; i++) a[i] = 0.25f * b[i] + 0.5f * (c[i - 1] + c[i + 1]);
    }
    printf("%d %d %d\n", first == a, first == b, spare == c);
    for (int i = 0; i < N * M; i++) printf("%a %a %a\n", (double)a[i], (double)b[i], (double)c[i]);
}

int main(void)
{
    now = malloc(N * M * sizeof *now);
    before = malloc(N * M * sizeof *before);
    float *levels[3];
    for (int k = 0; k < 3; k++) levels[k] = malloc(N * M * sizeof(float));
    for (int i = 0; i < N * M; i++) {
        now[i] = before[i] = (i * 7 % 31) / 8.0;
        for (int k = 0; k < 3; k++) levels[k][i] = (float)((i * 5 + k) % 17) / 4;
    }
    int steps;
    for (steps = 0; steps < STEPS; steps++)
        if (step()) break;
    printf("%d\n", steps);
    for (int i = 0; i < N * M; i++) printf("%a %a\n", now[i], before[i]);
    waves(levels[0], levels[1], levels[2], 11);
    return 0;
}
