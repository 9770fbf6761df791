/* Red-black relaxation whose changes are collected over both half-sweeps: in a loop over colours, by a function that returns those of
   one colour, and merged as maxima or as sums. */
#include <math.h>
#include <stdio.h>
#define N 34
#ifndef REAL
#define REAL double
#endif
static REAL u[N][N], f[N][N];

static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            u[i][j] = (i * 7 + j * 3) % 11;
            f[i][j] = (REAL)0.01 * i;
        }
}

static void show(const char *name, int steps, double last)
{
    printf("%s %d %a\n", name, steps, last);
    for (int i = 0; i < N; i += 3)
        for (int j = 0; j < N; j++)
            printf("%a\n", (double)u[i][j]);
}

static REAL half(int colour, REAL omega)
{
    REAL most = 0;
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
            if ((i + j) % 2 != colour)
                continue;
            REAL rest = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j] - f[i][j];
            u[i][j] += omega * rest / 4;
            if (fabs(rest) > most)
                most = fabs(rest);
        }
    return most;
}

static double squares(int colour)
{
    double sum = 0;
    for (int i = 1; i < N - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2) {
            double rest = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j];
            u[i][j] += rest / 4;
            sum += rest * rest;
        }
    return sum;
}

int main(void)
{
    double change = 1;
    int steps = 0;
    fill();
    while (change > 1e-2 && steps < 400) {
        change = 0;
        for (int colour = 0; colour < 2; colour++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2) {
                    REAL old = u[i][j];
                    u[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                    double d = fabs((double)u[i][j] - old);
                    if (d > change)
                        change = d;
                }
        steps++;
    }
    show("loop", steps, change);
    fill();
    for (steps = 0; steps < 300; steps++) {
        REAL red = half(0, (REAL)1.5);
        REAL black = half(1, (REAL)1.5);
        REAL most;
        most = red > black ? red : black;
        if (most < (REAL)1e-2)
            break;
    }
    show("maxima", steps, 0);
    fill();
    for (steps = 0; steps < 200; steps++) {
        double sum = 0;
        sum += squares(0);
        sum += squares(1);
        sum = sqrt(sum);
        if (steps % 40 == 0)
            printf("%d %a\n", steps, sum);
        if (sum < 1e-1)
            break;
    }
    show("sums", steps, 0);
    return 0;
}
