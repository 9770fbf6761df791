#include <math.h>
#define N 100
double a[N][N], b[N][N], u[2][N], s;
int k;
long table[N];
void g(double *x);
double h(double x) { return x + 1; }
int f(int n, int steps)
{
    int t, i, j;
    double x;
#pragma scop
    for (t = 0; t < steps; t++)
        for (i = 1; i < n - 1; i++)
            table[i] = table[i] + 1;
#pragma endscop

    return 0;
}
