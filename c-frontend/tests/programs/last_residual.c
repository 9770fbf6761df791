/* A sum that only the last step leaves behind. */
#include <stdio.h>
#define N 20
static float p[N][N][N], w[N][N][N];
int main(void)
{
    int n, i, j, k;
    float gosa, s0, ss;
    for (i = 0; i < N; i++) for (j = 0; j < N; j++) for (k = 0; k < N; k++) p[i][j][k] = (float)(i * i) / (N * N);
#pragma scop
    for (n = 0; n < 13; ++n) {
        gosa = 0.0f;
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                for (k = 1; k < N - 1; k++) {
                    s0 = p[i + 1][j][k] + p[i][j + 1][k] + p[i][j][k + 1] + p[i - 1][j][k] + p[i][j - 1][k] + p[i][j][k - 1];
                    ss = s0 * 0.16f - p[i][j][k];
                    gosa += ss * ss;
                    w[i][j][k] = p[i][j][k] + 0.8f * ss;
                }
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                for (k = 1; k < N - 1; k++)
                    p[i][j][k] = w[i][j][k];
    }
#pragma endscop
    printf("%a %a %a\n", gosa, s0, ss);
    for (i = 0; i < N; i++) printf("%a\n", p[i][3][4]);
    return 0;
}
