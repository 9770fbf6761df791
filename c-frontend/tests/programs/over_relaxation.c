/* Successive over-relaxation of a Poisson problem in three dimensions, with a right side; and, in the same step, a norm of
   what it has become, point by point. */
#include <stdio.h>
#ifndef STEPS
#define STEPS 7
#endif
enum { NX = 18, NY = 21, NZ = 33 };
static float u[NX][NY][NZ], f[NX][NY][NZ], r[NX][NY][NZ];

int main(void)
{
    float omega = 1.5f;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++)
            for (int k = 0; k < NZ; k++) {
                u[i][j][k] = (float)((i * 7 + j * 3 + k) % 11);
                f[i][j][k] = (float)((i + j * 5 + k * 2) % 7) * 0.125f;
            }
#pragma scop
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < NX - 1; i++)
            for (int j = 1; j < NY - 1; j++)
                for (int k = 1; k < NZ - 1; k++) {
                    float sum = u[i - 1][j][k] + u[i][j - 1][k] + u[i][j][k - 1] + u[i + 1][j][k] + u[i][j + 1][k] + u[i][j][k + 1];
                    u[i][j][k] = (1.0f - omega) * u[i][j][k] + omega * (sum - f[i][j][k]) / 6.0f;
                }
        for (int i = 1; i < NX - 1; i++)
            for (int j = 1; j < NY - 1; j++)
                for (int k = 1; k < NZ - 1; k++) r[i][j][k] = r[i][j][k] * 0.5f + u[i + 1][j][k] - u[i - 1][j][k];
    }
#pragma endscop
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++)
            for (int k = 0; k < NZ; k++) printf("%a %a\n", u[i][j][k], r[i][j][k]);
    return 0;
}
