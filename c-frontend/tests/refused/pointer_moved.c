#include <math.h>
#define N 100
double a[N][N], b[N][N], u[2][N], s;
int k, table[N];
void g(double *x);
double h(double x) { return x + 1; }
int f(double *p, double *q, int n, int steps)
{
    int t, i, j;
    double x;
#pragma scop
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            q[i] = p[i - 1] + p[i + 1];
        p = q;
    }
#pragma endscop

    return 0;
}
