#include <math.h>
#include <stdio.h>
void run(double **a, double **b, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        double change = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
                change = fmax(change, fabs(b[i][j] - a[i][j]));
            }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = b[i][j];
        printf("%g\n", change);
    }
}
