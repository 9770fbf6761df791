/* An array of pointers to rows, loops that count down, a boundary that is computed, a fused loop. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    int n = 21, m = 33, i, j, t;
    double **u = malloc(n * sizeof *u), **v = malloc(n * sizeof *v), **w = malloc(n * sizeof *w);
    for (i = 0; i < n; i++) {
        u[i] = malloc(m * sizeof **u);
        v[i] = malloc(m * sizeof **v);
        w[i] = malloc(m * sizeof **w);
        for (j = 0; j < m; j++) u[i][j] = v[i][j] = w[i][j] = (i * 5 + j * 3) % 7;
    }
#pragma scop
    for (t = 0; t < 7; t++) {
        for (i = n - 2; i >= 1; i--)
            for (j = 1; j < m - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                w[i][j] = w[i][j] + v[i][j] - u[i][j];
            }
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++)
                u[i][j] = v[i][j];
        for (j = 1; j < m - 1; j++)
            u[0][j] = u[1][j];
        for (j = 1; j < m - 1; j++)
            u[n - 1][j] = u[n - 2][j];
    }
#pragma endscop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) printf("%a %a %a\n", u[i][j], v[i][j], w[i][j]);
    return 0;
}
