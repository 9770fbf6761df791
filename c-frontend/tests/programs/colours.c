/* More colours, and other numbers of dimensions: nine points in four colours, one after the other; cells of a cube in two; and
   a line of which the odd points come first. */
#include <stdio.h>
#ifndef STEPS
#define STEPS 5
#endif
enum { N = 30, M = 35, L = 19 };
static double a[N][M], line[N * M];
static float cube[L][L + 2][L + 5];

static void four(void)
{
    for (int t = 0; t < STEPS; t++)
        for (int colour = 0; colour < 4; colour++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < M - 1; j++) {
                    if (2 * (i % 2) + j % 2 != colour) continue;
                    a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]
                               + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
                }
}

static void in_space(float c)
{
    for (int t = 0; t < STEPS; t++)
        for (int rb = 1; rb >= 0; rb--)
            for (int i = 1; i < L - 1; i++)
                for (int j = 1; j < L + 1; j++)
                    for (int k = 1; k < L + 4; k++)
                        if (((i + j + k) & 1) == rb)
                            cube[i][j][k] = c * (cube[i - 1][j][k] + cube[i + 1][j][k] + cube[i][j - 1][k]
                                                 + cube[i][j + 1][k] + cube[i][j][k - 1] + cube[i][j][k + 1]);
}

static void odd_first(void)
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N * M - 1; i += 2) line[i] = 0.5 * (line[i - 1] + line[i + 1]);
        for (int i = 2; i < N * M - 1; i += 2) line[i] = 0.5 * (line[i - 1] + line[i + 1]);
    }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) a[i][j] = (i * j + 2) % 17;
    for (int i = 0; i < L; i++)
        for (int j = 0; j < L + 2; j++)
            for (int k = 0; k < L + 5; k++) cube[i][j][k] = (float)((i * 3 + j * 5 + k) % 8);
    for (int i = 0; i < N * M; i++) line[i] = i * 13 % 29;
    four();
    in_space(0.15625f);
    odd_first();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) printf("%a %a\n", a[i][j], line[i * M + j]);
    for (int i = 0; i < L; i++)
        for (int j = 0; j < L + 2; j++)
            for (int k = 0; k < L + 5; k++) printf("%a\n", (double)cube[i][j][k]);
    return 0;
}
