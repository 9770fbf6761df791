/* Relaxation in two colours, in the forms in which it is written: a loop over colours around loops by two; conditions on the sum
   of the indices; an array in one piece whose rows begin with one point or the next. */
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 7
#endif
enum { NX = 37, NY = 52 };
static float u[NX][NY], f[NX][NY];
static double w[NX][NY];

static void by_two(int rounds, float omega)
{
    for (int t = 0; t < rounds; t++)
        for (int colour = 0; colour < 2; colour++)
            for (int i = 1; i < NX - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < NY - 1; j += 2) {
                    float sum = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
                    u[i][j] = (1.0f - omega) * u[i][j] + omega * 0.25f * (sum - f[i][j]);
                }
}

static void by_conditions(int rounds)
{
    int i, j, t;
    for (t = 0; t < rounds; t++) {
        for (i = 1; i <= NX - 2; i++)
            for (j = 1; j <= NY - 2; j++)
                if ((i + j) % 2 == 1)
                    w[i][j] += 0.375 * (w[i - 1][j] + w[i + 1][j] + w[i][j - 1] + w[i][j + 1] - 4.0 * w[i][j]);
        for (i = 1; i <= NX - 2; i++)
            for (j = 1; j <= NY - 2; j++)
                if ((i + j) % 2 == 0)
                    w[i][j] += 0.375 * (w[i - 1][j] + w[i + 1][j] + w[i][j - 1] + w[i][j + 1] - 4.0 * w[i][j]);
    }
}

static void in_one_piece(int n, int m, int rounds, double *a)
{
    for (int t = 0; t < rounds; t++) {
        for (int i = 1; i < n - 1; i++) {
            const int first = (i & 1) ? 2 : 1;
            for (int j = first; j < m - 1; j += 2)
                a[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
        }
        for (int i = 1; i < n - 1; i++)
            for (int j = 2 - (i & 1); j < m - 1; j += 2)
                a[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
    }
}

int main(void)
{
    const int n = 41, m = 33;
    double *a = malloc(sizeof *a * n * m);
    if (!a) return 1;
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) {
            u[i][j] = (float)((i * 7 + j * 3) % 11);
            f[i][j] = (float)((i + j * 5) % 7) * 0.125f;
            w[i][j] = ((i * 5 + j * 2) % 13) * 0.25;
        }
    for (int at = 0; at < n * m; at++) a[at] = (at * 37 % 101) * 0.5;
    by_two(STEPS, 1.5f);
    by_conditions(STEPS);
    in_one_piece(n, m, STEPS, a);
    for (int i = 0; i < NX; i++)
        for (int j = 0; j < NY; j++) printf("%a %a\n", u[i][j], w[i][j]);
    for (int at = 0; at < n * m; at++) printf("%a\n", a[at]);
    free(a);
    return 0;
}
