/* Scalars, a bound, an index and an array that the region itself declares before the time loop. */
#include <stdio.h>
#define N 60
static double u[2][N];
int main(void)
{
    int n = N, steps = 9;
    for (int i = 0; i < N; i++) u[0][i] = u[1][i] = (double)(i * 7 % 13) / 13;
#pragma scop
    typedef double real;
    const real c = 0.25;
    double d = 0.5, scale;
    int t, last = n - 1;
    double weight[N];
    scale = 1.0;
    for (int i = 0; i < n; i++) weight[i] = 1.0 / (i + 1);
    for (t = 0; t < steps; t++)
        for (int i = 1; i < last; i++)
            u[(t + 1) % 2][i] = scale * (c * (u[t % 2][i - 1] + u[t % 2][i + 1]) + d * u[t % 2][i]) + 1e-3 * weight[i];
#pragma endscop
    printf("%d %a\n", t, scale + last);
    for (int i = 0; i < N; i++) printf("%a\n", u[steps % 2][i]);
    return 0;
}
