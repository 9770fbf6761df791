/* Sweeps in place, and edges that are copied behind them: each sweep finds what the step before has left there. */
#include <math.h>
#include <stdio.h>
#ifndef REAL
#define REAL double
#endif
#ifndef N
#define N 31
#endif
#ifndef M
#define M 37
#endif
#ifndef STEPS
#define STEPS 23
#endif
static REAL u[N][M], p[N * M], v[N][M][9];

static void start(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            u[i][j] = p[i * M + j] = (REAL)((i * 7 + j * 5) % 13) / 8;
            for (int k = 0; k < 9; k++) v[i][j][k] = (REAL)((i * 3 + j * 5 + k * 7) % 11) / 4;
        }
}

/* Walls that nothing flows through, on all sides. */
static void walls(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                u[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        for (int i = 1; i < N - 1; i++) {
            u[i][0] = u[i][1];
            u[i][M - 1] = u[i][M - 2];
        }
        for (int j = 0; j < M; j++) {
            u[0][j] = u[1][j];
            u[N - 1][j] = u[N - 2][j];
        }
    }
}

/* Over-relaxation of a flat grid with one wall, until little changes. */
static int relaxed(int rows, int columns, REAL least)
{
    REAL most = 1;
    int steps = 0;
    while (most > least && steps < 400) {
        most = 0;
        for (int i = 1; i < rows - 1; i++)
            for (int j = 1; j < columns - 1; j++) {
                REAL old = p[i * columns + j];
                REAL next = (REAL)0.25 * (p[(i - 1) * columns + j] + p[(i + 1) * columns + j]
                                          + p[i * columns + j - 1] + p[i * columns + j + 1]);
                p[i * columns + j] = old + (REAL)1.3 * (next - old);
                if (fabs(p[i * columns + j] - old) > most) most = fabs(p[i * columns + j] - old);
            }
        for (int j = 0; j < columns; j++) p[j] = p[columns + j];
        steps++;
    }
    return steps;
}

/* A face that wraps nothing, in three dimensions, and reads two points deep. */
static void box(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 2; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                for (int k = 1; k < 8; k++)
                    v[i][j][k] = (REAL)0.2 * (v[i - 2][j][k] + v[i + 1][j][k] + v[i][j - 1][k] + v[i][j][k + 1])
                                 + (REAL)0.1 * v[i][j][k];
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) v[i][j][8] = (REAL)0.5 * v[i][j][7];
        for (int j = 0; j < M; j++)
            for (int k = 0; k < 9; k++) v[1][j][k] = -v[2][j][k];
    }
}

int main(void)
{
    start();
    walls(STEPS);
    printf("%d steps\n", relaxed(N, M, (REAL)1e-3));
    box(STEPS);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            printf("%a %a", (double)u[i][j], (double)p[i * M + j]);
            for (int k = 0; k < 9; k++) printf(" %a", (double)v[i][j][k]);
            printf("\n");
        }
    return 0;
}
