/* A torus whose sides the program reads: `& (n - 1)` wraps around where `n` is a power of two, and names other points elsewhere. */
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 37
#endif

static void diffuse(double *u, double *w, int n, int m)
{
    int mask = n - 1;
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                w[i * m + j] = 0.2 * (u[i * m + j] + u[((i - 1) & mask) * m + j] + u[((i + 1) & mask) * m + j]
                                      + u[i * m + ((j + m - 2) & (m - 1))] + u[i * m + ((j + 1) & (m - 1))]);
        double *other = u;
        u = w;
        w = other;
    }
}

static void ring(unsigned n)
{
    float *line = malloc(n * sizeof *line), *next = malloc(n * sizeof *next);
    for (unsigned i = 0; i < n; i++) line[i] = (float)(i * 7 % 11);
    for (int t = 0; t < STEPS; t++) {
        for (unsigned i = 0; i < n; i++) next[i] = 0.5f * line[(i - 3) & (n - 1)] + 0.25f * line[(i + 2) & (n - 1)];
        for (unsigned i = 0; i < n; i++) line[i] = next[i];
    }
    float sum = 0;
    for (unsigned i = 0; i < n; i++) sum += line[i] * (float)(i % 5);
    printf("%a\n", (double)sum);
    free(line);
    free(next);
}

int main(void)
{
#ifdef ANY_SIDES
    static const int sides[][2] = { { 24, 32 }, { 32, 40 }, { 1, 8 }, { 2, 2 }, { 33, 64 }, { 32, 32 } };
#else
    static const int sides[][2] = { { 32, 64 }, { 16, 16 }, { 64, 32 } };
#endif
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
        const int n = sides[k][0], m = sides[k][1];
        double *u = malloc(sizeof(double) * n * m), *w = malloc(sizeof(double) * n * m);
        for (int i = 0; i < n * m; i++) u[i] = w[i] = i * 13 % 29;
        diffuse(u, w, n, m);
        double sum = 0;
        for (int i = 0; i < n * m; i++) sum += u[i] * (i % 7);
        printf("%a\n", sum);
        free(u);
        free(w);
    }
    ring(64);
#ifdef ANY_SIDES
    ring(60);
    ring(4);
    ring(1);
#endif
    return 0;
}
