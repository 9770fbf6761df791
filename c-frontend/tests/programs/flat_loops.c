/* Loops over all points of a grid at once, with rows and columns by division. */
#include <stdio.h>
#include <stdlib.h>

#ifndef W
#define W 30
#endif
#ifndef H
#define H 24
#endif
#ifndef REAL
#define REAL double
#endif

struct plate { int width, height; REAL *now, *next; };

static void plain(REAL *u, REAL *v, int n, int m, int steps)
{
    int size = n * m, k;
    for (int t = 0; t < steps; t++) {
        for (k = 0; k < size; k++) {
            int i = k / m, j = k % m;
            if (i == 0 || j == 0 || i == n - 1 || j == m - 1) continue;
            v[k] = (u[k - 1] + u[k + 1] + u[k - m] + u[k + m]) / 4;
        }
        for (k = 0; k < size; k++) u[k] = v[k];
    }
    printf("%d\n", k);
}

/* In place, from the first point within to the last one. */
static void relax(REAL *u, int n, int m, int steps)
{
    for (int t = 0; t < steps; t++)
        for (int k = m + 1; k < n * m - m - 1; k++)
            if (k % m != 0 && (k + 1) % m != 0) u[k] = (u[k - 1] + u[k + 1] + u[k - m] + u[k + m]) / 4;
}

static void planes(REAL *u, REAL *v, int nx, int ny, int nz, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < nx * ny * nz; k++) {
            int x = k % nx, y = (k / nx) % ny, z = k / (nx * ny);
            if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1) v[k] = u[k];
            else v[k] = (u[k - 1] + u[k + 1] + u[k - nx] + u[k + nx] + u[k - nx * ny] + u[k + nx * ny]) / 6;
        }
        REAL *held = u; u = v; v = held;
    }
}

static int alive(const unsigned char *g, int k)
{
    int x = k % W, y = k / W, count = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) count += g[((y + dy + H) % H) * W + (x + dx + W) % W];
    return count;
}

static void step(struct plate *p)
{
    for (int k = 0; k < p->width * p->height; k++) {
        REAL left = k % p->width > 0 ? p->now[k - 1] : p->now[k];
        REAL above = k >= p->width ? p->now[k - p->width] : p->now[k];
        REAL below = k + p->width < p->width * p->height ? p->now[k + p->width] : p->now[k];
        p->next[k] = (left + above + below + p->now[k]) / 4;
    }
    REAL *held = p->now; p->now = p->next; p->next = held;
}

static REAL *filled(int count)
{
    REAL *made = malloc(count * sizeof *made);
    for (int k = 0; k < count; k++) made[k] = (REAL)(k % 13);
    return made;
}

static void show(const REAL *u, int count)
{
    for (int k = 0; k < count; k++) printf("%a\n", (double)u[k]);
}

int main(void)
{
    struct plate p = { W, H, filled(W * H), filled(W * H) };
    REAL *u = filled(W * H), *v = filled(W * H), *a = filled(12 * 10 * 11), *b = filled(12 * 10 * 11);
    unsigned char *g = malloc(W * H), *h = malloc(W * H);
    plain(u, v, H, W, 20);
    relax(u, H, W, 11);
    show(u, W * H);
    planes(a, b, 12, 10, 11, 10);
    show(a, 12 * 10 * 11);
    for (int k = 0; k < W * H; k++) g[k] = (k * 7 % 5) < 2;
    for (int t = 0; t < 30; t++) {
        for (int k = 0; k < W * H; k++) {
            int count = alive(g, k);
            h[k] = count == 3 || (count == 2 && g[k]);
        }
        unsigned char *held = g; g = h; h = held;
    }
    for (int k = 0; k < W * H; k++) putchar(g[k] ? '#' : '.');
    for (int t = 0; t < 17; t++) step(&p);
    show(p.now, W * H);
    return 0;
}
