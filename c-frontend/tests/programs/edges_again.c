// Edges that overwrite points which the same step has computed, corners twice: the last writer wins.
#include <stdio.h>
#include <stdlib.h>
#ifndef M
#define M 33
#endif

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 28;
    double (*h)[n] = malloc(sizeof(double[M][n])), (*g)[n] = malloc(sizeof(double[M][n]));
    static double p[M], q[M];
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < n; j++)
            h[i][j] = g[i][j] = (i * 5 + j * 3) % 17 * 0.125;
        p[i] = q[i] = i % 5;
    }
    for (int t = 0; t < 19; t++) {
        for (int i = 1; i < M - 1; i++)
            for (int j = 1; j < n - 1; j++)
                g[i][j] = 0.25 * (h[i - 1][j] + h[i + 1][j] + h[i][j - 1] + h[i][j + 1]);
        // Neumann: rows, then columns with the corners
        for (int j = 0; j < n; j++) {
            g[0][j] = g[1][j];
            g[M - 1][j] = 0.5 * g[M - 2][j];
        }
        for (int i = 0; i < M; i++) {
            g[i][0] = g[i][1];
            g[i][n - 1] = -g[i][n - 2];
        }
        for (int i = 0; i < M; i++)
            for (int j = 0; j < n; j++)
                h[i][j] = g[i][j];
        h[3][2] = 1.5;
        for (int j = 0; j < n; j++)
            h[M - 1][j] = 0.0625 * t;
    }
    for (int t = 0; t < 12; t++) {
        for (int i = 1; i < M - 1; i++)
            q[i] = 0.5 * (p[i - 1] + p[i + 1]);
        for (int i = 0; i < M; i++)
            p[i] = q[i];
        p[0] = 1;
        p[M - 1] = 2;
    }
    for (int i = 0; i < M; i++) {
        double sum = p[i] - 3 * q[i];
        for (int j = 0; j < n; j++)
            sum += (j + 1) * h[i][j] - (j % 3) * g[i][j];
        printf("%a\n", sum);
    }
    return 0;
}
