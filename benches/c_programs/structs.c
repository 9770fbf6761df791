/* Heat in a structure of buffers, which ends when the largest change is small. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
typedef float real;
struct grid { int nx, ny; real *a, *b; };
static inline int idx(const struct grid *g, int i, int j) { return i * g->ny + j; }
static real step(struct grid *g, real c) {
    real worst = 0;
    for (int i = 1; i < g->nx - 1; ++i)
        for (int j = 1; j < g->ny - 1; ++j) {
            real n = g->a[idx(g, i, j)] + c * (g->a[idx(g, i-1, j)] + g->a[idx(g, i+1, j)] + g->a[idx(g, i, j-1)] + g->a[idx(g, i, j+1)] - 4 * g->a[idx(g, i, j)]);
            g->b[idx(g, i, j)] = n;
            real d = fabsf(n - g->a[idx(g, i, j)]);
            if (d > worst) worst = d;
        }
    real *t = g->a; g->a = g->b; g->b = t;
    return worst;
}
int main(int argc, char **argv) {
    struct grid g = { 5000, 5000, 0, 0 };
    g.a = malloc(sizeof(real) * g.nx * g.ny); g.b = malloc(sizeof(real) * g.nx * g.ny);
    for (int i = 0; i < g.nx * g.ny; ++i) g.a[i] = (real)((i * 37) % 101) / 101;
    memcpy(g.b, g.a, sizeof(real) * g.nx * g.ny);
    int k = 0; real r;
    do { r = step(&g, 0.21f); ++k; if (k % 50 == 0) printf("%d %g\n", k, r); } while (r > 1e-9f && k < 200);
    double s = 0; for (int i = 0; i < g.nx * g.ny; ++i) s += g.a[i] * (i % 13);
    printf("%d %.9g %.17g\n", k, r, s);
    free(g.a); free(g.b); return 0;
}
