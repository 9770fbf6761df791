/* Three buffers modulo 3, a start other than 0, weights of a constant array, and an inner loop that is unrolled. */
#include <stdio.h>
#define R 2
static float w[3][50];
static const float weight[R + 1] = { -2.5f, 1.3333334f, -0.083333336f };
int main(void)
{
    int i, t;
    for (i = 0; i < 50; i++) w[0][i] = w[1][i] = w[2][i] = (i * i % 11) * 0.1f;
#pragma scop
    for (t = 5; t < 5 + 14; t++)
        for (i = R; i < 50 - R; i++) {
            float sum = weight[0] * w[t % 3][i];
            for (int k = 1; k <= R; k++)
                sum += weight[k] * (w[t % 3][i - k] + w[t % 3][i + k]);
            w[(t + 1) % 3][i] = 2 * w[t % 3][i] - w[(t + 2) % 3][i] + 0.1f * sum;
        }
#pragma endscop
    for (i = 0; i < 50; i++) printf("%a %a %a\n", (double)w[0][i], (double)w[1][i], (double)w[2][i]);
    return 0;
}
