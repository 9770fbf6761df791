/* Arrays that keep every level: in one block, flattened, and as rows that were allocated one by one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif
#ifndef STEPS
#define STEPS 9
#endif

static REAL plate[STEPS + 1][17][23];

static void warm(int n, int m)
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++)
                plate[t + 1][i][j] = plate[t][i][j]
                    + (plate[t][i - 1][j] + plate[t][i + 1][j] + plate[t][i][j - 1] + plate[t][i][j + 1] - 4 * plate[t][i][j]) / 8;
        for (int i = 0; i < n; i++) {
            plate[t + 1][i][0] = plate[t + 1][i][1];
            plate[t + 1][i][m - 1] = t;
        }
    }
}

/* The last column of a level lies beside the first one of the next. */
static void shallow(REAL *h, REAL *u, int nx, int nt)
{
    for (int it = 1; it <= nt; it++) {
        h[it * nx] = h[(it - 1) * nx];
        for (int i = 1; i < nx - 1; i++) {
            h[i + it * nx] = h[i + (it - 1) * nx] - (u[i + 1 + (it - 1) * nx] - u[i - 1 + (it - 1) * nx]) / 16;
            u[i + it * nx] = u[i + (it - 1) * nx] - (h[i + 1 + (it - 1) * nx] - h[i - 1 + (it - 1) * nx]) / 16;
        }
        h[nx - 1 + it * nx] = h[nx - 2 + it * nx];
    }
}

static void string(REAL **y, int n, int steps)
{
    int k, i;
    for (i = 1; i < n - 1; i++) y[1][i] = y[0][i] + (y[0][i - 1] - 2 * y[0][i] + y[0][i + 1]) / 8;
    for (k = 2; k <= steps; k++) {
        y[k][0] = 0;
        for (i = 1; i < n - 1; i++)
            y[k][i] = 2 * y[k - 1][i] - y[k - 2][i] + (y[k - 1][i - 1] - 2 * y[k - 1][i] + y[k - 1][i + 1]) / 4;
        y[k][n - 1] = 0;
    }
}

/* One row twice: the new level is the one before the last. */
static void folded(REAL **y, int n, int steps)
{
    for (int k = 1; k < steps; k++)
        for (int i = 1; i < n - 1; i++)
            y[k + 1][i] = (y[k][i - 1] + y[k][i + 1]) / 2 + y[k + 1][i] / 4;
}

/* Levels that reach into the next ones. */
static void overlapping(REAL *h, int nx, int width, int nt)
{
    for (int it = 0; it < nt; it++)
        for (int i = 1; i < width; i++)
            h[(it + 1) * nx + i] = (h[it * nx + i - 1] + h[it * nx + i + 1]) / 2;
}

static void show(const char *name, const REAL *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)x[i] * (1 + i % 7);
    printf("%s %a\n", name, sum);
}

int main(void)
{
    for (int i = 0; i < 17; i++)
        for (int j = 0; j < 23; j++) plate[0][i][j] = (i * 3 + j) % 5;
    warm(17, 23);
    show("plate", plate[0][0], (STEPS + 1) * 17 * 23);
    int nx = 40;
    REAL *h = calloc((STEPS + 2) * nx, sizeof *h), *u = calloc((STEPS + 2) * nx, sizeof *u);
    for (int i = 0; i < nx; i++) h[i] = i % 6, u[i] = i % 4;
    shallow(h, u, nx, STEPS);
    show("h", h, (STEPS + 1) * nx);
    show("u", u, (STEPS + 1) * nx);
    overlapping(h, 10, 25, STEPS);
    show("overlapping", h, (STEPS + 1) * nx);
    REAL *rows[STEPS + 1];
    for (int k = 0; k <= STEPS; k++) {
        rows[k] = calloc(50, sizeof **rows);
        for (int i = 0; i < 50; i++) rows[k][i] = (i + k) % 9;
    }
    string(rows, 50, STEPS);
    for (int k = 0; k <= STEPS; k++) show("string", rows[k], 50);
    REAL *kept[STEPS + 1];
    for (int k = 0; k <= STEPS; k++) kept[k] = rows[k > 1 ? 1 : k];
    folded(kept, 50, STEPS);
    show("folded", rows[1], 50);
    for (int k = 0; k <= STEPS; k++) free(rows[k]);
    free(h);
    free(u);
    return 0;
}
