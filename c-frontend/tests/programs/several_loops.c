// Three time loops in two functions, found without pragmas; printing and setting up stay as they are.
#include <stdio.h>
#define N 40

static double u[N][N], v[N][N];
static float line[2][200];

static void warm(int steps)
{
    int i, j, s;
    double t;
    for (s = 0; s < steps; ++s) {
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++) {
                t = u[i - 1][j] + u[i + 1][j];
                v[i][j] = 0.25 * (t + u[i][j - 1] + u[i][j + 1]);
            }
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++)
                u[i][j] = v[i][j];
    }
    t = u[3][4];
    printf("%a %d %d\n", t, i, j);
}

int main(void)
{
    int i, j;
    for (i = 0; i < N; i++)
        for (j = 0; j < N; j++)
            u[i][j] = v[i][j] = (i * 7 + j * 3) % 11;
    for (i = 0; i < 200; i++)
        line[0][i] = line[1][i] = i % 13;
    warm(9);
    for (int t = 0; t < 17; t++)
        for (int x = 2; x < 198; x++)
            line[(t + 1) % 2][x] = 0.5f * line[t % 2][x - 2] + 0.5f * line[t % 2][x + 1];
    for (int t = 0; t < 6; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                u[i][j] = 0.2 * (u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    warm(4);
    for (i = 0; i < N; i++) {
        double sum = 0;
        for (j = 0; j < N; j++)
            sum += u[i][j] * (j + 1) + line[1][i + j] - line[0][2 * i + j];
        printf("%a\n", sum);
    }
    return 0;
}
