/* Rows by pointers, of which those at the edges are read under guards only: interior, edges and corners differ. */
#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 26
#endif
#ifndef STEPS
#define STEPS 9
#endif
static double **rows(int n, int m, int seed)
{
    double **list = malloc(n * sizeof *list);
    for (int i = 0; i < n; i++) {
        list[i] = malloc(m * sizeof(double));
        for (int j = 0; j < m; j++) list[i][j] = (double)((i * 31 + j * 7 + seed) % 23) / 4;
    }
    return list;
}

int main(void)
{
    const int n = N, m = N + 1;
    double **a = rows(n, m, 0), **b = rows(n, m, 5);
#pragma scop
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < n; i++) {
            int top = i == 0, bottom = i == n - 1;
            for (int j = 0; j < m; j++) {
                if ((top || bottom) && (j == 0 || j == m - 1))
                    b[i][j] = 1.5;
                else if (top || bottom || !j || j >= m - 1)
                    b[i][j] = a[i][j];
                else
                    b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
            }
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                a[i][j] = 0.9 * b[i][j] + (i > 0 ? 0.05 * b[i - 1][j] : 0) + (j + 1 < m ? 0.05f * b[i][j + 1] : 0.01);
    }
#pragma endscop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) printf("%a %a\n", a[i][j], b[i][j]);
    return 0;
}
