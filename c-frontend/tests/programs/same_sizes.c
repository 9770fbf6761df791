/* Grids that each hold their own size and ghost cells: read by functions, and flat, with rows of their own. */
#include <stdio.h>
#include <stdlib.h>
#ifndef REAL
#define REAL double
#endif
#ifndef MORE /* with 1, one of the grids has longer rows */
#define MORE 0
#endif
struct grid { int nx, ny; struct { int ghosts; } edge; REAL *at, **rows; };
static struct grid *make(int nx, int ny, int ghosts)
{
    struct grid *g = malloc(sizeof *g);
    g->nx = nx;
    g->ny = ny;
    g->edge.ghosts = ghosts;
    nx += 2 * ghosts;
    ny += 2 * ghosts;
    g->at = malloc(sizeof(REAL) * nx * ny);
    g->rows = malloc(sizeof(REAL *) * nx);
    for (int i = 0; i < nx; i++)
        g->rows[i] = g->at + i * ny;
    for (int i = 0; i < nx * ny; i++)
        g->at[i] = i % 13 * (REAL)0.125;
    return g;
}
static REAL get(const struct grid *g, int i, int j) { return g->rows[i + g->edge.ghosts][j + g->edge.ghosts]; }
static void set(struct grid *g, int i, int j, REAL value) { g->rows[i + g->edge.ghosts][j + g->edge.ghosts] = value; }
static void show(const struct grid *g)
{
    for (int i = 0; i < g->nx; i++)
        for (int j = 0; j < g->ny; j += 3)
            printf("%a\n", (double)get(g, i, j));
}
static void smooth(struct grid *to, const struct grid *from)
{
    for (int i = 1; i < from->nx - 1; i++)
        for (int j = 1; j < from->ny - 1; j++)
            to->at[i * to->ny + j] = (REAL)0.25 * (from->at[(i - 1) * from->ny + j] + from->at[(i + 1) * from->ny + j]
                                                   + from->at[i * from->ny + j - 1] + from->at[i * from->ny + j + 1]);
}
int main(void)
{
    int n = 37, m = 45;
    struct grid *a = make(n, m, 1), *b = make(n, m, 1 + MORE);
    for (int t = 0; t < 23; t++) {
        for (int i = 0; i < a->nx; i++)
            for (int j = 0; j < a->ny; j++)
                set(b, i, j, get(a, i - 1, j) + get(a, i + 1, j) + get(a, i, j - 1) + get(a, i, j + 1) - 4 * get(a, i, j));
        for (int i = 0; i < b->nx; i++)
            for (int j = 0; j < b->ny; j++)
                set(a, i, j, get(a, i, j) + (REAL)0.1 * get(b, i, j));
    }
    show(a);
    struct grid e = *make(n, m, 0), f = *make(n, m + MORE, 0);
    for (int t = 0; t < 19; t++) {
        smooth(&f, &e);
        for (int i = 1; i < f.nx - 1; i++)
            for (int j = 1; j < e.ny - 1; j++)
                e.at[i * e.ny + j] = f.at[i * f.ny + j];
        if (t % 7 == 6)
            printf("%d %a\n", f.nx, (double)e.at[3 * e.ny + 5]);
    }
    show(&e);
    return 0;
}
