/* A star that reaches RADIUS points far in three dimensions, with both loops: one in the region, one outside. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#ifndef REAL
#define REAL float
#endif
#ifndef RADIUS
#define RADIUS 4
#endif
#define CELL(k) A[t % 2][i + (k)][j][l] + A[t % 2][i - (k)][j][l] + A[t % 2][i][j + (k)][l] + A[t % 2][i][j - (k)][l] \
    + A[t % 2][i][j][l + (k)] + A[t % 2][i][j][l - (k)]

static void kernel(REAL *start, int size, int steps, bool region)
{
    int side = size + 2 * RADIUS;
    REAL(*A)[side][side][side] = (REAL(*)[side][side][side])start;
    if (region) {
#pragma scop
        for (int t = 0; t < steps; t++)
            for (int i = RADIUS; i < side - RADIUS; i++)
                for (int j = RADIUS; j < side - RADIUS; j++)
                    for (int l = RADIUS; l < side - RADIUS; l++)
                        A[(t + 1) % 2][i][j][l] = 0.1f * A[t % 2][i][j][l] + 0.08f * (CELL(1)) + 0.05f * (CELL(RADIUS))
                            + sqrt(fabs(A[t % 2][i][j][l])) / 118;
#pragma endscop
    } else {
        for (int t = 0; t < steps; t++)
#pragma omp parallel for
            for (int i = RADIUS; i < side - RADIUS; i++)
                for (int j = RADIUS; j < side - RADIUS; j++)
                    for (int l = RADIUS; l < side - RADIUS; l++)
                        A[(t + 1) % 2][i][j][l] = 0.1f * A[t % 2][i][j][l] + 0.08f * (CELL(1)) + 0.05f * (CELL(RADIUS))
                            + sqrt(fabs(A[t % 2][i][j][l])) / 118;
    }
}

int main(void)
{
    enum { SIZE = 11, STEPS = 3, SIDE = SIZE + 2 * RADIUS, CELLS = 2 * SIDE * SIDE * SIDE };
    REAL *a = malloc(CELLS * sizeof(REAL)), *b = malloc(CELLS * sizeof(REAL));
    for (int i = 0; i < CELLS; i++) a[i] = b[i] = (REAL)(i * 7919L % 1009) / 64;
    kernel(a, SIZE, STEPS, true);
    kernel(b, SIZE, STEPS, false);
    int different = 0;
    for (int i = 0; i < CELLS; i++) {
        different += a[i] != b[i];
        if (i % 17 == 0) printf("%a\n", (double)a[i]);
    }
    printf("%d different\n", different);
    free(a);
    free(b);
    return 0;
}
