/* Arrays that each step copies: behind the sweep or before it, wholly or in part, beside edges that are computed, beside tests. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef REAL
#define REAL double
#endif
#ifndef N
#define N 37
#endif
#ifndef M
#define M 41
#endif
#ifndef STEPS
#define STEPS 23
#endif

static REAL a[N][M], b[N][M], c[N][M], d[N][M];
static unsigned char cell[N][M], next[N][M];

static void begin(int by)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            a[i][j] = (i * 7 + j * 13 + by) % 11;
            b[i][j] = (i * 5 + j * 3 + by) % 7;
            c[i][j] = (i + j + by) % 5;
            d[i][j] = (i * 3 + j * 2 + by) % 9;
            cell[i][j] = (i * j + by) % 3 == 0;
            next[i][j] = (i + 2 * j + by) % 5 == 0;
        }
}

static void show(const char *name)
{
    REAL sums[3] = { 0, 0, 0 };
    long cells = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            sums[0] += a[i][j] * (i % 5 + 1) * (j % 3 + 1);
            sums[1] += b[i][j] * (i % 3 + 1) * (j % 7 + 1);
            sums[2] += c[i][j] * (i % 7 + 1) * (j % 5 + 1);
            cells = cells * 3 % 1000003 + cell[i][j] + 5 * next[i][j];
        }
    printf("%s %a %a %a %ld", name, sums[0], sums[1], sums[2], cells);
    printf(" %a %a %a %a\n", a[0][1], b[0][1], a[N - 2][M - 2], b[N - 1][M - 2]);
}

#define SWEEP(to, from) \
    for (int i = 1; i < N - 1; i++) \
        for (int j = 1; j < M - 1; j++) \
            to[i][j] = (REAL)0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1])
#define COPY(to, from, edge) \
    for (int i = edge; i < N - edge; i++) \
        for (int j = edge; j < M - edge; j++) \
            to[i][j] = from[i][j]

int main(void)
{
    begin(0);
    for (int t = 0; t < STEPS; t++) {
        SWEEP(b, a);
        COPY(a, b, 1);
    }
    show("behind");
    begin(1);
    for (int t = 0; t < STEPS; t++) {
        SWEEP(b, a);
        memcpy(a, b, sizeof a);
    }
    show("with its edges");
    begin(2);
    for (int t = 0; t < STEPS; t++) {
        SWEEP(b, a);
        COPY(a, b, 2);
    }
    show("less of it");
    begin(3);
    for (int t = 0; t < STEPS; t++) {
        COPY(b, a, 0);
        SWEEP(a, b);
    }
    show("before");
    begin(4);
    for (int t = 0; t < STEPS; t++) {
        COPY(b, a, 0);
        for (int i = 1; i < N - 2; i++)
            for (int j = 1; j < M; j++)
                a[i][j] = b[i][j] - (REAL)0.2 * (b[i][j] - b[i - 1][j]) - (REAL)0.1 * (b[i][j] - b[i][j - 1]);
    }
    show("before, upwind");
    begin(5);
    for (int t = 0; t < STEPS; t++) {
        COPY(c, a, 0);
        SWEEP(b, c);
        for (int j = 1; j < M - 1; j++) {
            b[0][j] = b[1][j];
            b[N - 1][j] = b[N - 2][j];
        }
        COPY(a, b, 0);
        if (t % 7 == 3) printf("%d %a %a\n", t, a[N / 2][M / 2], c[2][N / 3]);
    }
    show("three arrays");
    begin(6);
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                c[i][j] = 2 * a[i][j] - b[i][j]
                    + (REAL)0.1 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - 4 * a[i][j]);
        COPY(b, a, 1);
        COPY(a, c, 1);
    }
    show("a wave");
    begin(7);
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                int around = cell[i - 1][j - 1] + cell[i - 1][j] + cell[i - 1][j + 1] + cell[i][j - 1] + cell[i][j + 1]
                    + cell[i + 1][j - 1] + cell[i + 1][j] + cell[i + 1][j + 1];
                next[i][j] = around == 3 || (around == 2 && cell[i][j]);
            }
        COPY(cell, next, 0);
    }
    show("life");
    begin(8);
    REAL change = 1;
    int rounds = 0;
    while (change > (REAL)0.03 && rounds < 400) {
        change = 0;
        SWEEP(b, a);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                if (fabs(b[i][j] - a[i][j]) > change) change = fabs(b[i][j] - a[i][j]);
                a[i][j] = b[i][j];
            }
        rounds++;
    }
    printf("%d %a\n", rounds, change);
    show("until it rests");
    REAL *from = a[0], *to = b[0];
    for (int t = 0; t < STEPS; t++) {
        REAL *held;
        for (int i = 1; i < N * M - 1; i++) to[i] = (REAL)0.5 * (from[i - 1] + from[i + 1]);
        held = from;
        from = to;
        to = held;
    }
    show("pointers instead");
    begin(9);
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++)
                c[i][j] = (REAL)0.5 * a[i][j] - (REAL)0.25 * b[i][j] + (REAL)0.125 * d[i][j] + (REAL)0.1 * a[i - 1][j];
        COPY(b, a, 1);
        COPY(d, a, 1);
        COPY(a, c, 1);
    }
    show("two that began apart");
    COPY(c, d, 0);
    show("the second of them");
    return 0;
}
