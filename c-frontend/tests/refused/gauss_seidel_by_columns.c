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
        for (j = 1; j < n - 1; j++)
            for (i = 1; i < n - 1; i++)
                a[i][j] = (a[i - 1][j] + a[i][j] + a[i + 1][j - 1]) / 3.0;
#pragma endscop

    return 0;
}
