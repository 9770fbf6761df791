/* Two arrays back and forth in three dimensions, as function arguments of variable length. */
#include <stdio.h>
#include <stdlib.h>
static void step(int n, int steps, double a[n][n][n], double b[n][n][n])
{
#pragma scop
    for (int t = 1; t <= steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2.0 * a[i][j][k] + a[i - 1][j][k])
                        + 0.125 * (a[i][j + 1][k] - 2.0 * a[i][j][k] + a[i][j - 1][k])
                        + 0.125 * (a[i][j][k + 1] - 2.0 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    a[i][j][k] = b[i][j][k];
    }
#pragma endscop
}

int main(void)
{
    int n = 13;
    double(*a)[n][n] = malloc(sizeof(double[n][n][n])), (*b)[n][n] = malloc(sizeof(double[n][n][n]));
    for (int i = 0; i < n * n * n; i++) (&a[0][0][0])[i] = (&b[0][0][0])[i] = (i * 7 % 13) / 3.0;
    step(n, 6, a, b);
    for (int i = 0; i < n * n * n; i++) printf("%a %a\n", (&a[0][0][0])[i], (&b[0][0][0])[i]);
    return 0;
}
