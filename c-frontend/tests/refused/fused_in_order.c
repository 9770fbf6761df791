#include <math.h>
#define N 100
double a[N][N], b[N][N], u[2][N], s;
int k, table[N];
void g(double *x);
double h(double x) { return x + 1; }
int f(int n, int steps)
{
    int t, i, j;
    double x;
#pragma scop
    for (t = 0; t < steps; t++)
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++) {
                b[i][j] = a[i - 1][j] + a[i][j + 1];
                a[i][j] = b[i][j - 1] + b[i][j];
            }
#pragma endscop

    return 0;
}
