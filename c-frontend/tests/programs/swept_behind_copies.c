/* Sweeps in place of which each step prints something, so that steps run one at a time: what was there is copied before, what
 * changes is kept in the sweep itself. */
#include <stdio.h>

enum { N = 40, M = 50 };
static double u[N][M], old[N][M], change[N][M];

static void copy(int n, int m, double from[n][m], double to[n][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) to[i][j] = from[i][j];
}

int main(void)
{
    double largest = 1;
    for (int i = 0; i < N; i++) u[i][0] = 100;
    while (largest > 0.25) {
        copy(N, M, u, old);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                u[i][j] = (u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1]) / 4;
                change[i][j] = u[i][j] - old[i][j];
            }
        largest = change[0][0];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                if (change[i][j] > largest) largest = change[i][j];
        printf("%a\n", largest);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) printf("%a %a %a\n", u[i][j], old[i][j], change[i][j]);
    return 0;
}
