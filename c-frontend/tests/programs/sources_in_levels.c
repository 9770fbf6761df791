/* Sources in arrays of levels and in place. */
#include <stdio.h>
#ifndef N
#define N 40
#endif
static double p[2][N][N], v[N][N], src[100];
int main(void)
{
    int is = N / 2 + 1, js = 7;
    for (int t = 0; t < 100; t++) src[t] = (t % 9) - 4.0;
#pragma scop
    for (int t = 0; t < 30; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                p[(t + 1) % 2][i][j] = 0.24 * (p[t % 2][i - 1][j] + p[t % 2][i + 1][j] + p[t % 2][i][j - 1] + p[t % 2][i][j + 1]);
        p[(t + 1) % 2][is][js] = p[(t + 1) % 2][is][js] + src[t];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                v[i][j] += 0.5 * p[(t + 1) % 2][i][j];
        v[10][11] = 1.0;
    }
#pragma endscop
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) printf("%a %a\n", p[0][i][j], v[i][j]);
    return 0;
}
