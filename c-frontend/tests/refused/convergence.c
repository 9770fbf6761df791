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
    x = 1;
#pragma scop
    while (x > 1e-6) {
        for (i = 1; i < n - 1; i++)
            u[1][i] = u[0][i - 1];
    }
#pragma endscop

    return 0;
}
