/* Steps that take memory and give it back, with questions whether it could be had. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef STEPS
#define STEPS 30
#endif

typedef struct {
    int nx, ny;
    double *u, by;
} Grid;

static void *taken(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

static double **rows(int n, int m)
{
    double **a = malloc(n * sizeof(double *));
    if (a == NULL) return NULL;
    for (int i = 0; i < n; i++) {
        a[i] = malloc(m * sizeof **a);
        if (a[i] == NULL) {
            perror("malloc");
            return NULL;
        }
    }
    return a;
}

static void without_rows(double **a, int n)
{
    for (int i = 0; i < n; i++) free(a[i]);
    free(a);
}

/* Rows in one piece, zero at first. */
static float **piece(int n, int m)
{
    float **a = (float **)malloc(n * sizeof(float *));
    a[0] = (float *)calloc((size_t)n * m, sizeof(float));
    for (int i = 1; i < n; i++) a[i] = a[0] + i * m;
    return a;
}

static int flat(double *u, int n, double by)
{
    size_t bytes = n * n * sizeof(double);
    double *next;
    if ((next = malloc(bytes)) == NULL) {
        perror("malloc");
        return -1;
    }
    memcpy(next, u, bytes);
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            next[i * n + j] = u[i * n + j] + by * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1] - 4 * u[i * n + j]);
    for (int i = 1; i < n - 1; i++) memcpy(&u[i * n + 1], &next[i * n + 1], (n - 2) * sizeof(double));
    free(next);
    return 0;
}

static void by_rows(double **u, int n, int m)
{
    int i, j;
    double **next = rows(n, m);
    if (next == NULL) exit(EXIT_FAILURE);
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < m - 1; j++) next[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < m - 1; j++) u[i][j] = next[i][j];
    without_rows(next, n);
}

/* The sums at the edges are of zeros. */
static void in_one_piece(float *u, int n)
{
    float **next = piece(n, n);
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) next[i][j] = 0.25f * (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]);
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) u[i * n + j] = 0.5f * next[i][j] + 0.125f * (next[i][j - 1] + next[i - 1][j]);
    free(next[0]);
    free(next);
}

static void on_a_grid(Grid *g)
{
    double *next = taken(g->nx * g->ny * sizeof *next);
    assert(next != NULL);
    memcpy(next, g->u, g->nx * g->ny * sizeof(double));
    for (int i = 1; i < g->nx - 1; i++)
        for (int j = 1; j < g->ny - 1; j++)
            g->u[i * g->ny + j] = next[i * g->ny + j] + g->by * (next[(i - 1) * g->ny + j] - next[i * g->ny + j + 1]);
    free(next);
}

static void smoothed(double **to, double **from, int n, int m)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++) to[i][j] = 0.5 * (from[i - 1][j] + from[i][j + 1]);
}

int main(void)
{
    int n = 40, m = 33;
    double sum = 0, *u = malloc(n * n * sizeof(double)), **v = rows(n, m);
    float *w = malloc(n * n * sizeof(float));
    Grid g = { 30, 40, malloc(1200 * sizeof(double)), 0.25 };
    for (int k = 0; k < n * n; k++) u[k] = (k * 7) % 13, w[k] = k % 11;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) v[i][j] = (i * 5 + j) % 9;
    for (int k = 0; k < 1200; k++) g.u[k] = k % 17;
    for (int t = 0; t < STEPS; t++) flat(u, n, 0.1);
    for (int t = 0; t < STEPS; t++) by_rows(v, n, m);
    for (int t = 0; t < STEPS; t++) in_one_piece(w, n);
    for (int t = 0; t < STEPS; t++) on_a_grid(&g);
    for (int t = 0; t < STEPS; t++) {
        double **next = rows(n, m);
        smoothed(next, v, n, m);
        for (int i = 1; i < n - 1; i++) memcpy(v[i] + 1, next[i] + 1, (m - 2) * sizeof(double));
        without_rows(next, n);
    }
    for (int k = 0; k < n * n; k++) sum += (u[k] + w[k]) * (k % 17);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) sum += v[i][j] * (i + 2 * j);
    for (int k = 0; k < 1200; k++) sum += g.u[k] * (k % 5);
    printf("%a\n", sum);
    free(u), free(w), free(g.u), without_rows(v, n);
    return 0;
}
