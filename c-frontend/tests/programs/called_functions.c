// Functions of the program in the time loop: they are taken apart, whatever they take.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#ifndef STEPS
#define STEPS 23
#endif

typedef struct {
    int nx, ny;
    double *now, *next;
    double weight[3];
} Grid;

static double k = 0.2;
static int row;

static inline int at(const Grid *g, int i, int j) { return i * g->ny + j; }

static double limited(double value, double least, double most)
{
    if (value < least) return least;
    if (value > most)
        return most;
    return value;
}

static double curvature(const double *u, int n, int i, int j)
{
    const double here = u[i * n + j];
    double sum = u[(i - 1) * n + j] + u[(i + 1) * n + j];
    sum += u[i * n + j - 1];
    sum += u[i * n + j + 1];
    return sum - 4 * here;
}

void diffuse(Grid *g, float factor)
{
    for (row = 1; row < g->nx - 1; row++) {
        const double *here = g->now + row * g->ny;
        for (int j = 1; j < g->ny - 1; j++) {
            double sum = curvature(g->now, g->ny, row, j);
            g->next[at(g, row, j)] = limited(here[j] + k * factor * g->weight[1] * sum, -2, 2);
        }
    }
}

static void frame(double *u, int m, int n)
{
    int i;
    for (i = 0; i < m; ++i)
        u[i * n] = u[i * n + n - 1] = 0.25;
    for (i = 0; i < n; ++i) {
        if (i == 2) continue;
        u[i] = 0.5;
        u[(m - 1) * n + i] = -0.5;
    }
}

static void exchange(double **a, double **b)
{
    double *held = *a;
    *a = *b;
    *b = held;
}

int main(void)
{
    Grid grid = { 31, 27, 0, 0, { 0.1, 0.9, 0.3 } };
    double *other, *copy;
    double sum = 0;
    int i, t;
    grid.now = malloc(grid.nx * grid.ny * sizeof(double));
    grid.next = malloc(grid.nx * grid.ny * sizeof(double));
    other = malloc(grid.nx * grid.ny * sizeof(double));
    copy = malloc(grid.nx * grid.ny * sizeof *copy);
    for (i = 0; i < grid.nx * grid.ny; i++)
        grid.now[i] = grid.next[i] = copy[i] = sin(i * 0.37), other[i] = 0;
    for (t = 0; t < STEPS; t++) {
        diffuse(&grid, 0.75);
        frame(grid.next, grid.nx, grid.ny);
        exchange(&grid.now, &grid.next);
    }
    for (t = 0; t < STEPS; t++) {
        int m = grid.nx, n = grid.ny;
        for (int i = 1; i < m - 1; i++)
            for (int j = 1; j < n - 1; j++)
                other[i * n + j] = copy[i * n + j] + 0.1 * curvature(copy, n, i, j);
        memcpy(copy, other, m * n * sizeof(double));
    }
    for (i = 0; i < grid.nx * grid.ny; i++)
        sum += (i % 7 + 1) * (grid.now[i] + 3 * grid.next[i] - copy[i]);
    printf("%a %a %d %d %a\n", sum, grid.now[40], row, t, copy[33]);
    return 0;
}
