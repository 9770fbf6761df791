/* Updates in place that end by a test in every step, as people write them: the new value stands in a second array or in a
 * scalar before it is stored, the residual is what is tested, some points are left out. */
#include <math.h>
#include <stdio.h>

#ifndef REAL
#define REAL double
#endif
enum { N = 34, M = 45 };
static REAL t[N][M], next[N][M], slope[N][M];
static int wall[N][M];

static void start(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            t[i][j] = next[i][j] = (REAL)((i * 7 + j * 3) % 11);
            wall[i][j] = (i * i + j) % 13 == 0;
        }
}

static void show(const char *what, int rounds, double last)
{
    printf("%s %d %a\n", what, rounds, last);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) printf("%a %a %a\n", (double)t[i][j], (double)next[i][j], (double)slope[i][j]);
}

int main(void)
{
    int rounds = 0, i, j;
    double largest = 1, change;
    start();
    while (largest > 0.02) {
        largest = 0;
        rounds++;
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++) {
                next[i][j] = (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]) / 4;
                change = fabs(next[i][j] - t[i][j]);
                if (change > largest) largest = change;
                slope[i][j] = t[i + 1][j] - t[i - 1][j];
                t[i][j] = next[i][j];
            }
    }
    show("stored last", rounds, largest);

    start();
    double sum;
    rounds = 0;
    do {
        sum = 0;
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++) {
                REAL residual = (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]) / 4 - t[i][j];
                t[i][j] += (REAL)1.25 * residual;
                sum += residual * residual;
            }
        rounds++;
    } while (sqrt(sum) > 0.5 && rounds < 200);
    show("residuals", rounds, sum);

    start();
    for (rounds = 0; rounds < 300; rounds++) {
        largest = 0;
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++) {
                if (wall[i][j]) continue;
                double value = (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]) / 4;
                if (fabs(value - t[i][j]) > largest) largest = fabs(value - t[i][j]);
                t[i][j] = value;
            }
        if (largest < 0.01) break;
    }
    show("walls", rounds, largest);
    return 0;
}
