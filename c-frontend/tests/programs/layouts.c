/* Levels that lie in every way: a pointer for each, interleaved rows, components beside each other, longer rows, planes of
 * a cube; from any step on, for any number of steps. */
#include <stdio.h>
#include <stdlib.h>
#ifndef FIRST
#define FIRST 3
#endif
#ifndef STEPS
#define STEPS 7
#endif
enum { N = 29, M = 35 };
static double rows[N][2][M], longer[N][M + 3], weight[N][M];
static float pair[N][M][2], cube[3][N][M];

static void run(float *level[2], int first, int steps)
{
#pragma scop
    for (int t = first; t < first + steps; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                level[(t + 1) % 2][i * M + j] = 0.25f * (level[t % 2][(i - 1) * M + j] + level[t % 2][(i + 1) * M + j]
                    + level[t % 2][i * M + j - 1] + level[t % 2][i * M + j + 1]);
                rows[i][(t + 1) % 2][j] = 0.5 * (rows[i - 1][t % 2][j] + rows[i][t % 2][j + 1]) + weight[i][j];
                cube[(t + 1) % 3][i][j] = cube[t % 3][i][j] + 0.125f * (cube[(t + 2) % 3][i][j - 1] - cube[t % 3][i + 1][j]);
                longer[i][j] += 0.5 * level[(t + 1) % 2][i * M + j];
                pair[i][j][0] = 0.5f * pair[i][j][0] + pair[i][j][1];
                pair[i][j][1] += (float)longer[i][j];
            }
#pragma endscop
}

int main(void)
{
    float *level[2] = { malloc(N * M * sizeof(float)), malloc(N * M * sizeof(float)) };
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) {
                level[k][i * M + j] = (float)((i * 31 + j * 7 + k) % 53) / 8;
                rows[i][k][j] = (double)((i * 17 + j * 3 + k) % 41) / 4;
                longer[i][j] = weight[i][j] = (double)((i * 5 + j) % 13) / 16;
                pair[i][j][k] = (float)((i + j * 11 + k) % 19) / 32;
                cube[k][i][j] = cube[2][i][j] = (float)((i * 13 + j * 29 + k) % 61) / 64;
            }
    run(level, FIRST, STEPS);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++)
                printf("%a %a %a %a %a %a\n", (double)level[k][i * M + j], rows[i][k][j], longer[i][j], (double)pair[i][j][k],
                    (double)cube[k][i][j], (double)cube[2][i][j]);
    free(level[0]);
    free(level[1]);
    return 0;
}
