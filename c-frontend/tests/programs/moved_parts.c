#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef N
#define N 60
#endif
#ifndef STEPS
#define STEPS 40
#endif

static double plane[N][N + 4], next[N][N + 4];

int main(void)
{
    int n = N;
    double line[N + 2], newer[N + 2];
    double *flat = malloc(n * n * sizeof *flat), *other = malloc(n * n * sizeof *other);
    for (int i = 0; i < n + 2; i++) line[i] = newer[i] = i % 9;
    for (int i = 0; i < n * n; i++) flat[i] = other[i] = i % 11;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < N + 4; j++) plane[i][j] = next[i][j] = (3 * i + j) % 13;
    /* From an element on. */
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i <= n; i++) newer[i] = 0.5 * (line[i - 1] + line[i + 1]);
        memcpy(line + 1, newer + 1, n * sizeof(double));
    }
    /* Rows in the middle of a flattened array. */
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                other[i * n + j] = 0.25 * (flat[(i - 1) * n + j] + flat[(i + 1) * n + j] + flat[i * n + j - 1] + flat[i * n + j + 1]);
        memcpy(&flat[n], &other[n], (n - 2) * n * sizeof *flat);
    }
    /* Rows. */
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N + 3; j++)
                next[i][j] = 0.25 * (plane[i - 1][j] + plane[i + 1][j] + plane[i][j - 1] + plane[i][j + 1]);
        for (int i = 1; i < N - 1; i++) memcpy(plane[i], next[i], (N + 4) * sizeof(double));
    }
#ifdef OVERLAP
    /* What overlaps is not moved element by element. */
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i <= n; i++) newer[i] = 0.5 * (line[i - 1] + line[i + 1]);
        memmove(newer + 1, newer, n * sizeof(double));
        memcpy(line + 1, newer + 1, n * sizeof(double));
    }
#endif
    for (int i = 0; i < n + 2; i++) printf("%a\n", line[i]);
    for (int i = 0; i < n * n; i++) printf("%a\n", flat[i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < N + 4; j++) printf("%a\n", plane[i][j]);
    return 0;
}
