/* Flow on a lattice of nine directions, which lie side by side in flat arrays that take turns; then a plane with a literal width. */
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif
#define Q 9

static const int cx[Q] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, cy[Q] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
static const REAL weight[Q] = { 4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36 };

static REAL small[40 * 12], next[40 * 12];

int main(int argc, char **argv)
{
    int nx = argc > 1 ? atoi(argv[1]) : 47, ny = 39, x, y, t;
    REAL *f = malloc(sizeof *f * nx * ny * Q), *fn = malloc(sizeof *f * nx * ny * Q);
    for (y = 0; y < ny; y++)
        for (x = 0; x < nx; x++)
            for (int k = 0; k < Q; k++) f[(y * nx + x) * Q + k] = fn[(y * nx + x) * Q + k] = weight[k] * (1 + 0.01 * ((x * 7 + y * 3) % 11));
    for (t = 0; t < 21; t++) {
        for (y = 1; y < ny - 1; y++)
            for (x = 1; x < nx - 1; x++) {
                REAL g[Q], rho = 0, ux = 0, uy = 0;
                for (int k = 0; k < Q; k++) {
                    g[k] = f[((y - cy[k]) * nx + x - cx[k]) * Q + k];
                    rho += g[k];
                    ux += cx[k] * g[k];
                    uy += cy[k] * g[k];
                }
                ux /= rho;
                uy /= rho;
                for (int k = 0; k < Q; k++) {
                    REAL cu = cx[k] * ux + cy[k] * uy;
                    REAL e = weight[k] * rho * (1 + 3 * cu + 4.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
                    fn[Q * (y * nx + x) + k] = g[k] + (REAL)1.2 * (e - g[k]);
                }
            }
        REAL *old = f;
        f = fn;
        fn = old;
    }
    double sum = 0;
    for (int k = 0; k < Q; k++)
        for (y = 0; y < ny; y++)
            for (x = 0; x < nx; x++) sum += f[(y * nx + x) * Q + k] * (k + 1) * (x % 5);
    printf("%.17g\n", sum);

    for (int i = 0; i < 40 * 12; i++) small[i] = next[i] = i % 7;
    for (t = 0; t < 10; t++) {
        for (int i = 1; i < 39; i++)
            for (int j = 1; j < 11; j++) next[i * 12 + j] = (REAL)0.25 * (small[(i - 1) * 12 + j] + small[(i + 1) * 12 + j] + small[i * 12 + j - 1] + small[i * 12 + j + 1]);
        for (int i = 1; i < 39; i++)
            for (int j = 1; j < 11; j++) small[i * 12 + j] = next[i * 12 + j];
    }
    for (int i = 0; i < 40 * 12; i++) sum += small[i] * i;
    printf("%.17g\n", sum);
    free(f);
    free(fn);
    return 0;
}
