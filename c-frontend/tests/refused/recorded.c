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
    for (t = 0; t < steps; t++) {
        for (i = 1; i < n - 1; i++)
            u[(t + 1) % 2][i] = u[t % 2][i - 1];
        seen[t] = u[(t + 1) % 2][7];
    }
#pragma endscop
}
