// Time that counts down, with values of it, or in floating point; pointers to rows of a type of the program's own; `switch`.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef float real;
enum { EMPTY, TREE, FIRE };
#define N 26
int forest[N][N], next[N][N];

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 22, M = 40;
    double v[41], w[41];
    for (int i = 0; i <= M; i++) v[i] = i > 20 ? i - 20.0 : 0.0;
    for (int t = 29; t >= 0; t--) {
        for (int i = 1; i < M; i++) w[i] = 0.001 * i * i * v[i - 1] + (1 - 0.002 * i * i) * v[i] + 0.001 * i * i * v[i + 1];
        w[0] = 0;
        w[M] = 20 - exp(-0.05 * (30 - t));
        for (int i = 0; i <= M; i++) v[i] = w[i];
    }
    for (int i = 0; i <= M; i++) printf("%a\n", v[i]);
    double seen = 0, step = 0.013;
    for (double time = 0; time < 0.4; time += step, seen += time) {
        for (int i = 1; i < M; i++) w[i] = 0.25 * (v[i - 1] + 2 * v[i] + v[i + 1]);
        for (int i = 1; i < M; i++) v[i] = w[i];
        if (time > 0.2) step = 0.02;
        if (time > 0.3 && time < 0.32) printf("%a %a\n", time, v[3]);
    }
    for (int i = 0; i <= M; i++) printf("%a %a\n", v[i], seen);

    real (*u)[n] = malloc(sizeof(real[n][n])), (*p)[n] = malloc(sizeof(real[n][n]));
    for (int i = 0; i < n * n; i++) u[i / n][i % n] = p[i / n][i % n] = i * 5 % 11;
    for (int left = 13; left > 0; left -= 2) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (i == 0 || j == 0 || i == n - 1 || j == n - 1)
                    p[i][j] = 0.5f;
                else
                    p[i][j] = 0.25f * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]) + left;
            }
        real (*turn)[n] = u;
        u = p;
        p = turn;
    }
    for (int i = 0; i < n * n; i++) printf("%a\n", u[i / n][i % n]);

    for (int i = 0; i < N * N; i++) forest[i / N][i % N] = i * 31 % 10 < 7 ? TREE : EMPTY;
    forest[N / 2][N / 2] = FIRE;
    for (int t = 0; t < 11; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                switch (forest[i][j]) {
                case TREE:
                    next[i][j] = TREE;
                    if ((i > 0 && forest[i - 1][j] == FIRE) || (i < N - 1 && forest[i + 1][j] == FIRE)
                        || (j > 0 && forest[i][j - 1] == FIRE) || (j < N - 1 && forest[i][j + 1] == FIRE))
                        next[i][j] = FIRE;
                    break;
                case FIRE:
                case 3: {
                    next[i][j] = 3;
                    break;
                }
                default: next[i][j] = forest[i][j];
                }
            }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) forest[i][j] = next[i][j];
    }
    for (int i = 0; i < N * N; i++) putchar('0' + forest[i / N][i % N]);
    return 0;
}
