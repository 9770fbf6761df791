/* Conditions on the data and on the indices. */
#include <stdio.h>
#define N 30
static double a[2][N][N];
int main(void)
{
    int t, i, j, now;
    for (i = 0; i < N * N; i++) (&a[0][0][0])[i] = (&a[1][0][0])[i] = (i * 13 % 29) - 9.5;
#pragma scop
    for (t = 0; t < 8; t++) {
        for (i = 0; i < N; i++)
            for (j = 0; j < N; j++)
                if (i > 0 && i < N - 1 && j >= 1 && j <= N - 2) {
                    double flow = 0.25 * (a[t % 2][i - 1][j] + a[t % 2][i + 1][j] + a[t % 2][i][j - 1] + a[t % 2][i][j + 1]);
                    if (flow > 1.0)
                        a[(t + 1) % 2][i][j] = flow / 2;
                    else if (flow < -1.0 || i == j)
                        a[(t + 1) % 2][i][j] = flow;
                }
    }
#pragma endscop
    now = t;
    for (i = 0; i < N * N; i++) printf("%d %a %a\n", now, (&a[0][0][0])[i], (&a[1][0][0])[i]);
    return 0;
}
