/* float data with double literals, integer constants, sqrt and sqrtf, conversions and compound assignment. */
#include <math.h>
#include <stdio.h>
#define N 40
static float u[2][N + 4], v[N + 4];
int main(void)
{
    int t, i;
    const double alpha = 0.3;
    float weight = 0.7f;
    int parts = 3;
    for (i = 0; i < N + 4; i++) {
        u[0][i] = u[1][i] = (float)i / 9;
        v[i] = 1.0f / (i + 1);
    }
#pragma scop
    for (t = 1; t <= 9; t++) {
        for (i = 2; i <= N + 1; i++) {
            float a = u[(t + 1) % 2][i - 2] * 0.1 + u[(t + 1) % 2][i + 2] / 118;
            double s = sqrt(u[(t + 1) % 2][i] * u[(t + 1) % 2][i] + 1e-4f);
            a += alpha * s;
            a *= 1 / 2 + 1.5f;
            u[t % 2][i] = a + (float)fabs(-weight * v[i]) / parts + sqrtf(v[i - 1]) + exp(-v[i + 1]) + pow(v[i], 2.5);
        }
    }
#pragma endscop
    printf("%d %d\n", t, i);
    for (i = 0; i < N + 4; i++) printf("%a %a\n", (double)u[0][i], (double)u[1][i]);
    return 0;
}
