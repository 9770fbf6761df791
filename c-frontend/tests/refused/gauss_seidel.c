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
        for (i = n - 2; i > 0; i--)
            for (j = n - 2; j > 0; j--)
                a[i][j] = (a[i + 1][j] + a[i][j] + a[i - 1][j - 1]) / 3.0;
#pragma endscop

    return 0;
}
