/* Neighbours around the ends, chosen by `if` and `else`: rows and columns, flat and with subscripts, also by functions. */
#include <stdio.h>
#include <stdlib.h>
#define N 150
#ifndef REAL
#define REAL double
#endif
static REAL u[N][N], v[N][N];
static int life[N][N], born[N][N];

static int before(int i, int n)
{
    int left;
    if (i == 0)
        left = n - 1;
    else
        left = i - 1;
    return left;
}

static int living(int a[N][N], int r, int c)
{
    int up, down, left, right;
    if (r == 0) {
        up = N - 1;
        down = r + 1;
    } else if (r == N - 1) {
        up = r - 1;
        down = 0;
    } else {
        up = r - 1;
        down = r + 1;
    }
    left = c > 0 ? c - 1 : N - 1;
    right = c + 1;
    if (right == N)
        right = 0;
    return a[up][left] + a[up][c] + a[up][right] + a[r][left] + a[r][right] + a[down][left] + a[down][c] + a[down][right];
}

static void flat(int n, int m, int steps)
{
    REAL *now = malloc(n * m * sizeof *now), *next = malloc(n * m * sizeof *next);
    for (int k = 0; k < n * m; k++)
        now[k] = k * 7 % 11;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            int up = i - 1, down = i + 1;
            if (up < 0)
                up = n - 1;
            if (down >= n)
                down = 0;
            for (int j = 0; j < m; j++) {
                int left = before(j, m), right = j;
                right++;
                if (right == m)
                    right -= m;
                next[i * m + j] =
                    (REAL)0.25 * (now[up * m + j] + now[down * m + j] + now[i * m + left] + now[i * m + right]);
            }
        }
        REAL *held = now;
        now = next;
        next = held;
    }
    for (int k = 0; k < n * m; k++)
        printf("%a\n", (double)now[k]);
    free(now);
    free(next);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 37, m = argc > 2 ? atoi(argv[2]) : 41;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            u[i][j] = (i * 7 + j * 3) % 11;
            life[i][j] = (i * 5 + j * 3) % 7 < 3;
        }
    for (int t = 0; t < 12; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int up = i - 2, right;
                if (up < 0)
                    up += N;
                if (j < N - 3)
                    right = j + 3;
                else
                    right = j + 3 - N;
                v[i][j] = (REAL)0.5 * u[up][j] + (REAL)0.25 * (u[i][right] + u[i][j]);
            }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                u[i][j] = v[i][j];
    }
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int count = living(life, i, j);
                born[i][j] = count == 3 || (count == 2 && life[i][j]);
            }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                life[i][j] = born[i][j];
    }
    flat(n, m, 14);
    for (int i = 0; i < N; i += 7)
        for (int j = 0; j < N; j++)
            printf("%a %d\n", (double)u[i][j], life[i][j]);
    return 0;
}
