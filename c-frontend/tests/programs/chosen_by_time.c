/* Pointers that each step chooses by its time: from step to step, or, where time counts by two, the same ones in each. */
#include <math.h>
#include <stdio.h>

#define N 40

static double a[N][N], b[N][N];

static void begin(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = sin(0.7 * i + 1.3 * j);
            b[i][j] = cos(0.3 * i - j);
        }
}

static void show(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += (i + 2 * j) * a[i][j] - (2 * i + j) * b[i][j];
    printf("%a %a %a\n", sum, a[N / 2][3], b[3][N / 2]);
}

int main(void)
{
    /* Arrays of rows, which are declared apart. */
    begin();
    for (int t = 3; t < 30; t++) {
        double(*now)[N] = t % 2 ? b : a;
        double(*next)[N] = t % 2 ? a : b;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
    }
    show();

    /* All of these times are odd. */
    begin();
    for (int t = 3; t < 30; t += 2) {
        double(*now)[N] = t % 2 ? b : a;
        double(*next)[N] = t % 2 ? a : b;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
    }
    show();

    /* Every other one of these is. */
    begin();
    for (int t = 3; t < 50; t += 3) {
        double *now = t % 2 ? &b[0][0] : &a[0][0];
        double *next = t % 2 ? &a[0][0] : &b[0][0];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) next[i * N + j] = 0.25 * (now[(i - 1) * N + j] + now[(i + 1) * N + j] + now[i * N + j]);
    }
    show();

    begin();
    double *x = &a[0][0], *y = &b[0][0];
    for (int t = 4; t < 40; t += 2) {
        double *now = t % 2 ? y : x;
        double *next = t % 2 ? x : y;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) next[i * N + j] = 0.25 * (now[(i - 1) * N + j] + now[(i + 1) * N + j] + now[i * N + j]);
    }
    show();
    return 0;
}
