/* One-dimensional indexing of a grid, buffers chosen by variables of the loop, temporaries, a typedef. */
#include <stdio.h>
#include <stdlib.h>
typedef double real;
static void run(real *restrict u, const real *restrict c, int rows, int columns, long steps)
{
    long t;
    int i, j;
#pragma scop
    for (t = 0; t < steps; ++t) {
        int now = t & 1, next = 1 - now;
        for (i = 1; i <= rows - 2; i += 1)
            for (j = 1; j <= columns - 2; j++) {
                int at = i * columns + j;
                real middle = u[now * rows * columns + at];
                real sum = u[now * rows * columns + at - 1] + u[now * rows * columns + at + 1];
                sum += u[now * rows * columns + (i - 1) * columns + j];
                sum += u[now * rows * columns + (i + 1) * columns + j];
                u[next * rows * columns + at] = middle + c[at] * (sum - 4 * middle);
            }
    }
#pragma endscop
}

int main(void)
{
    int rows = 19, columns = 27, points = rows * columns;
    real *u = malloc(2 * points * sizeof(real)), *c = malloc(points * sizeof(real));
    for (int i = 0; i < 2 * points; i++) u[i] = (i * 31 % 17) / 5.0;
    for (int i = 0; i < points; i++) c[i] = (i % 7) / 40.0;
    run(u, c, rows, columns, 9);
    for (int i = 0; i < 2 * points; i++) printf("%a\n", u[i]);
    return 0;
}
