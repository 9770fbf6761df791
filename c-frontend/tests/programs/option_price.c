/* Coefficients in planes of an array, an index as a value, and a maximum as a macro. */
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define POINTS 64
static double c[3][POINTS + 1], f[2][POINTS + 1];
int main(void)
{
    int i, t, ns = POINTS, nt = 25;
    double e = 95.0, ds = 200.0 / ns, v2 = 0.09, dt = 1.0 / nt;
    for (i = 0; i <= ns; i++) {
        c[0][i] = dt * 0.5 * i * (v2 * i - 0.1) / 40;
        c[1][i] = 1 - v2 * i * i * dt / 40;
        c[2][i] = dt * 0.5 * i * (v2 * i + 0.1) / 40;
        f[0][i] = MAX(0.0, e - i * ds);
    }
    f[1][0] = e;
#pragma scop
    for (t = 0; t < nt; ++t) {
        for (i = 1; i < ns; ++i) {
            f[(t + 1) % 2][i] = MAX(c[0][i] * f[t % 2][i - 1] + c[1][i] * f[t % 2][i] + c[2][i] * f[t % 2][i + 1],
                e - i * ds);
        }
    }
#pragma endscop
    for (i = 0; i <= ns; i++) printf("%a %a\n", f[0][i], f[1][i]);
    return 0;
}
