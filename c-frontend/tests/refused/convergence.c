#include <math.h>
#include <stdio.h>
#include <time.h>
#define N 100
double u[2][N], seen[1000], s, tolerance;
double energy(void) { return u[0][3] + u[1][3]; }
void f(int n, int steps)
{
    int t, i;
    double worst;

#pragma scop
    do {
        s = 0;
        for (i = 1; i < n - 1; i++) {
            u[1][i] = 0.5 * (u[0][i - 1] + u[0][i + 1]);
            s += u[1][i] - u[0][i];
        }
        for (i = 1; i < n - 1; i++)
            u[0][i] = u[1][i];
    } while (s > tolerance);
#pragma endscop
}
