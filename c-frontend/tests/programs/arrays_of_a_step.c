/* Arrays that each step declares or takes from the heap, and a maximum by a function of the program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef STEPS
#define STEPS 400
#endif

static inline double larger(double a, double b) { return a > b ? a : b; }

/* Until nothing changes by much. */
static int relaxed(int n, double a[n][n])
{
    int rounds = 0;
    while (rounds < STEPS) {
        double old[n][n], worst = 0.;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) old[i][j] = a[i][j];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                a[i][j] = 0.25 * (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]);
                worst = larger(worst, fabs(a[i][j] - old[i][j]));
            }
        rounds++;
        if (worst < 5e-3) break;
    }
    return rounds;
}

/* Fluxes through the sides of cells, in memory of the step's own. */
static void moved(float *u, int n, float by)
{
    float *flux = (float *)malloc((n + 1) * sizeof(float));
    float *next = calloc(n, sizeof *next);
    for (int i = 1; i < n; i++) flux[i] = by * u[i - 1];
    for (int i = 1; i < n - 1; i++) next[i] = u[i] - (flux[i + 1] - flux[i]);
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
    free(flux);
    free(next);
}

int main(void)
{
    int n = 37;
    double (*a)[n] = malloc(sizeof(double[n][n])), sum = 0;
    float u[300];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i][j] = i == 0 ? 10 : (i * j) % 5;
    for (int i = 0; i < 300; i++) u[i] = i > 20 && i < 60 ? 1.f + i % 3 : 0.25f;
    printf("%d rounds\n", relaxed(n, a));
    for (int t = 0; t < STEPS; t++) {
        moved(u, 300, 0.5f);
        if (t % 150 == 0) printf("%d: %a\n", t, u[100]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += a[i][j] * (i + 2 * j);
    for (int i = 0; i < 300; i++) sum += u[i] * (i % 17);
    printf("%a\n", sum);
    free(a);
    return 0;
}
