#include <math.h>
#define N 100
double a[N][N], b[N][N], u[2][N], s;
int k, table[N];
void g(double *x);
double h(double x) { k++; return x > 9 ? h(x - 1) : x; }
int f(int n, int steps)
{
    int t, i, j;
    double x;
#pragma scop
    for (t = 0; t < steps; t++)
        for (i = 1; i < n - 1; i++)
            u[(t + 1) % 2][i] = h(u[t % 2][i - 1]);
#pragma endscop

    return 0;
}
