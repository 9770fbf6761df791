// Ghost cells that are copied in two directions, so that the second copies read corners of the first; a function that wraps
// indices around; a source within what was just computed; no type before `main`.
#include <stdio.h>
#include <stdlib.h>
#define N 20

typedef double real;
real h[N + 2][N + 2], g[N + 2][N + 2], e[60], b[60], c[N * N], m[N * N];

void reflect(real a[N + 2][N + 2], double sign)
{
    for (int i = 0; i < N + 2; i++) {
        a[i][0] = sign * a[i][1];
        a[i][N + 1] = a[i][N];
    }
    for (int j = 0; j < N + 2; j++) {
        a[0][j] = a[1][j];
        a[N + 1][j] = sign * a[N][j];
    }
}

int at(int i, int j)
{
    if (i < 0) i += N;
    if (i >= N) i -= N;
    if (j < 0)
        j += N;
    else if (j >= N)
        j -= N;
    return i * N + j;
}

main()
{
    int t;
    for (int i = 0; i < N * N; i++) h[i / N + 1][i % N + 1] = c[i] = (i * 7 % 13) * 0.25;
    for (t = 0; t < 9; t++) {
        reflect(h, -1);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                g[i][j] = h[i][j] + 0.1 * (h[i - 1][j - 1] + h[i + 1][j + 1] + h[i][j - 1] - 3 * h[i][j]);
        for (int i = 1; i <= N; i++)
            for (int j = 1; j <= N; j++)
                h[i][j] = g[i][j];
    }
    for (t = 0; t < 31; t++) {
        b[59] = b[58];
        for (int i = 0; i < 59; i++) b[i] = b[i] + 0.5 * (e[i + 1] - e[i]);
        b[20] -= 0.125 * t;
        e[0] = e[1];
        for (int i = 1; i < 60; i++) e[i] = e[i] + 0.5 * (b[i] - b[i - 1]);
        e[21] += 0.0625 * t;
    }
    for (t = 0; t < 6; t++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                m[at(i, j)] = c[at(i, j)] - 0.25 * (c[at(i + 1, j)] + c[at(i - 1, j)] + c[at(i, j + 1)]);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                c[at(i, j)] += 0.125 * m[at(i, j - 1)];
    }
    for (int i = 0; i < N + 2; i++)
        for (int j = 0; j < N + 2; j++) printf("%a ", h[i][j]);
    for (int i = 0; i < 60; i++) printf("%a %a\n", e[i], b[i]);
    for (int i = 0; i < N * N; i++) printf("%a\n", c[i]);
    return 0;
}
