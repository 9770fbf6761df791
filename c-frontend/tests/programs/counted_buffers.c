/* Buffers whose numbers variables hold: two levels that change places, three that go round, from any of them. */
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 10
#endif
#ifndef FIRST
#define FIRST 1
#endif
enum { N = 34, M = 23 };
static double u[2][N][M];
static float w[3 * N * M];

int main(void)
{
    int now = FIRST, level = FIRST, t;
    for (int k = 0; k < 3 * N * M; k++) {
        w[k] = (float)(k * 29 % 71) / 16;
        if (k < 2 * N * M) u[k / (N * M)][k / M % N][k % M] = (double)(k * 13 % 59) / 8;
    }
#pragma scop
    for (t = 2; t < STEPS; t++) {
        const int next = 1 - now, newest = (level + 1) % 3;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                u[next][i][j] = 0.25 * (u[now][i - 1][j] + u[now][i + 1][j] + u[now][i][j - 1] + u[now][i][j + 1]);
                w[newest * N * M + i * M + j] = 1.5f * w[level * N * M + i * M + j] - 0.5f * w[(level + 2) % 3 * N * M + i * M + j + 1]
                    + u[next][i][j] / t;
            }
        level = newest;
        now ^= 1;
    }
#pragma endscop
    for (int k = 0; k < 3 * N * M; k++) printf("%a %a\n", (double)w[k], k < 2 * N * M ? u[k / (N * M)][k / M % N][k % M] : 0);
    printf("%d %d %d\n", now, level, t);
    return 0;
}
