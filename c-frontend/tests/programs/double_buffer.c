/* Two buffers modulo 2, float literals with suffixes, a radius as a macro, a pointer to an array obtained by a cast,
 * and the same loop once more outside the region. */
#include <stdio.h>
#include <stdlib.h>
#ifndef REAL
#define REAL float
#endif
#define R 1

static void sweep(REAL *memory, int n, int steps, int tiled)
{
    int width = n + 2 * R;
    REAL (*A)[width][width] = (REAL (*)[width][width])memory;
    if (tiled) {
#pragma scop
        for (int t = 0; t < steps; t++)
            for (int i = R; i < width - R; i++)
                for (int j = R; j < width - R; j++)
                    A[(t + 1) % 2][i][j] = 0.21f * A[t % 2][i - 1][j] + 0.23f * A[t % 2][i][j - 1]
                        + 0.1f * A[t % 2][i][j] + 0.22f * A[t % 2][i][j + 1] + 0.2f * (A[t % 2][i + 1][j]);
#pragma endscop
    } else {
        for (int t = 0; t < steps; t++)
#pragma omp parallel for
            for (int i = R; i < width - R; i++)
                for (int j = R; j < width - R; j++)
                    A[(t + 1) % 2][i][j] = 0.21f * A[t % 2][i - 1][j] + 0.23f * A[t % 2][i][j - 1]
                        + 0.1f * A[t % 2][i][j] + 0.22f * A[t % 2][i][j + 1] + 0.2f * (A[t % 2][i + 1][j]);
    }
}

int main(void)
{
    const int sizes[][2] = { { 1, 0 }, { 1, 3 }, { 17, -2 }, { 33, 7 }, { 40, 12 }, { 0, 4 } };
    for (int k = 0; k < 6; k++) {
        int n = sizes[k][0], steps = sizes[k][1], points = 2 * (n + 2) * (n + 2);
        REAL *a = malloc(points * sizeof(REAL));
        /* The two buffers differ at the boundary. */
        for (int i = 0; i < points; i++) a[i] = (REAL)(i * 37 % 101) / 7;
        sweep(a, n, steps, 1);
        for (int i = 0; i < points; i++) printf("%a\n", (double)a[i]);
        free(a);
    }
    return 0;
}
