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
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                a[i][j] = 0.5 * b[i][j];
        for (i = 0; i < n; i++)
            a[i][0] = a[i][1];
        for (j = 1; j < n; j++)
            a[0][j] = 1.0;
    }
#pragma endscop

    return 0;
}
