/* Fields in place with their own extents, and a source that depends on time, as in electromagnetics. */
#include <stdio.h>
#ifndef REAL
#define REAL double
#endif
enum { NX = 23, NY = 31, STEPS = 11 };
static REAL ex[NX][NY], ey[NX + 1][NY], hz[NX][NY + 2], source[STEPS];

static void kernel(int nx, int ny, int steps)
{
    int t, i, j;
#pragma scop
    for (t = 0; t < steps; t++) {
        for (j = 0; j < ny; j++)
            ey[0][j] = source[t];
        for (i = 1; i < nx; i++)
            for (j = 0; j < ny; j++)
                ey[i][j] = ey[i][j] - (REAL)0.5 * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < nx; i++)
            for (j = 1; j < ny; j++)
                ex[i][j] -= (REAL)0.5 * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < nx - 1; i++)
            for (j = 0; j < ny - 1; j++)
                hz[i][j] = hz[i][j] - (REAL)0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

int main(void)
{
    for (int t = 0; t < STEPS; t++) source[t] = (REAL)t / 5;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            ex[i][j] = (REAL)i * (j + 1) / NX;
            ey[i][j] = (REAL)i * (j + 2) / NY;
            hz[i][j] = (REAL)i * (j + 3) / NX;
        }
    kernel(NX, NY, STEPS);
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) printf("%a %a %a\n", (double)ex[i][j], (double)ey[i][j], (double)hz[i][j]);
    return 0;
}
