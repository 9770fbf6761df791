/* Chebyshev acceleration: each half-sweep has a factor of its own. */
#include <math.h>
#include <stdio.h>
#define N 40
static double u[N][N], f[N][N];

int main(void)
{
    double rho = cos(3.14159265358979 / N), omega = 1.0;
    for (int j = 0; j < N; j++) u[0][j] = j;
    for (int step = 0; step < 50; step++)
        for (int colour = 0; colour < 2; colour++) {
            for (int i = 1; i < N - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2)
                    u[i][j] += omega * 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j] - f[i][j]);
            if (step == 0 && colour == 0)
                omega = 1.0 / (1.0 - 0.5 * rho * rho);
            else
                omega = 1.0 / (1.0 - 0.25 * rho * rho * omega);
        }
    printf("%f\n", u[N / 2][N / 2]);
    return 0;
}
