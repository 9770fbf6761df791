/* Sweeps that set the frame again at each point, loops that hide the time index, and numbers of points that are no integers
 * by the time they are used. */
#include <stdio.h>

#ifndef REAL
#define REAL double
#endif
#define MOST 41

static REAL u[MOST][MOST], v[MOST][MOST], line[MOST], last[MOST];

static void flow(int n, int steps)
{
    for (int t = 0; t <= steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                v[i][j] = u[i][j];
        for (int j = 1; j < n; j++) {
            for (int i = 1; i < n; i++) {
                u[j][i] = v[j][i] - (v[j][i] - v[j][i - 1]) / 5 - (v[j][i] - v[j - 1][i]) / 5;
                u[0][i] = 1.0;
                u[n - 1][i] = 1.0;
                u[j][0] = 1.0;
                u[j][n - 1] = 1.0;
            }
        }
    }
}

static void carry(REAL *now, REAL *before, double n, double r)
{
    int i;
    for (i = 1; i < n - 1; i++)
        now[i] = before[i] - r * (before[i] - before[i - 1]);
}

static void convect(int n, int steps)
{
    for (int i = 0; i < steps; i++) {
        carry(line, last, n, 0.25);
        for (int i = 0; i < n; i++)
            last[i] = line[i];
    }
}

int main(void)
{
    int sizes[] = { 1, 2, 3, 4, 17, MOST };
    for (int k = 0; k < 6; k++) {
        int n = sizes[k];
        for (int i = 0; i < MOST; i++) {
            line[i] = last[i] = (REAL)(i * 5 % 9);
            for (int j = 0; j < MOST; j++) u[i][j] = (REAL)((i * 3 + j * 7) % 13) / 4;
        }
        flow(n, 7);
        convect(n, 6);
        double sum = 0;
        for (int i = 0; i < MOST; i++) {
            sum += line[i] * (i + 1) + last[i];
            for (int j = 0; j < MOST; j++) sum += u[i][j] * (1 + (i * 7 + j) % 5);
        }
        printf("%d: %.12g\n", n, sum);
    }
    return 0;
}
