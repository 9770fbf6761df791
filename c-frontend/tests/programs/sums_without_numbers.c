/* Sums over several loops, of which one is no number: the loop ends, whatever the other points say. */
#include <math.h>
#include <stdio.h>
#define N 40
static double a[2][N][N], b[2][N][N];

static void fill(void)
{
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                a[s][i][j] = (i * 7 + j) % 11 + 1;
                b[s][i][j] = (i * 5 + j) % 13 + 1;
            }
}

static void show(int t, double error)
{
    printf("%d %d\n", t, error != error);
    for (int i = 0; i < N; i++)
        printf("%a\n", b[t % 2][i][5]);
}

static void both(int t)
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
            a[(t + 1) % 2][i][j] =
                3e8 * a[t % 2][i][j] * a[t % 2][i][j] - 2e8 * a[t % 2][i - 1][j] * a[t % 2][i + 1][j];
            b[(t + 1) % 2][i][j] = 0.5 * b[t % 2][i][j] + 0.25 * (b[t % 2][i - 1][j] + b[t % 2][i][j + 1]);
        }
}

int main(void)
{
    double error = 1;
    int t = 0;
    fill();
    while (error > 1e-12 && t < 300) {
        error = 0;
        both(t);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                error += fabs(a[(t + 1) % 2][i][j] - a[t % 2][i][j]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                error += fabs(b[(t + 1) % 2][i][j] - b[t % 2][i][j]);
        t++;
    }
    show(t, error);
    fill();
    error = 1;
    t = 0;
    while (error > 1e-12 && t < 300) {
        error = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                a[(t + 1) % 2][i][j] =
                    3e8 * a[t % 2][i][j] * a[t % 2][i][j] - 2e8 * a[t % 2][i - 1][j] * a[t % 2][i + 1][j];
                b[(t + 1) % 2][i][j] = 0.5 * b[t % 2][i][j] + 0.25 * (b[t % 2][i - 1][j] + b[t % 2][i][j + 1]);
                error += fabs(a[(t + 1) % 2][i][j] - a[t % 2][i][j]);
                error += fabs(b[(t + 1) % 2][i][j] - b[t % 2][i][j]);
            }
        t++;
    }
    show(t, error);
    fill();
    error = 1;
    t = 0;
    while (error > 1e-12 && t < 300) {
        error = 0;
        both(t);
        for (int i = 1; i < N - 1; i++) {
            double row = 0;
            for (int j = 1; j < N - 1; j++)
                row += fabs(a[(t + 1) % 2][i][j] - a[t % 2][i][j]);
            for (int j = 1; j < N - 1; j++)
                row += fabs(b[(t + 1) % 2][i][j] - b[t % 2][i][j]);
            error += row;
        }
        t++;
    }
    show(t, error);
    return 0;
}
