/* Cells that live or die: integers of 32 bits that are small when the loop begins, and those of which one is not. */
#include <stdio.h>
#include <stdlib.h>

#define LARGE 40000000

static unsigned long sum(const int *cells, int count)
{
    unsigned long all = 5381;
    for (int i = 0; i < count; i++) all = all * 33 + (unsigned)cells[i];
    return all;
}

/* Arrays of the file, whose edges stay as they are; with a spare column that nobody touches. */
enum { N = 37, M = 53 };
static int now[N][M + 2], next[N][M + 2];

static void of_the_file(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                int n = 0;
                for (int a = -1; a <= 1; a++)
                    for (int b = -1; b <= 1; b++)
                        if (a != 0 || b != 0) n += now[i + a][j + b];
                if (now[i][j] == 1)
                    next[i][j] = n < 2 || n > 3 ? 0 : 1;
                else
                    next[i][j] = n == 3;
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) now[i][j] = next[i][j];
    }
}

/* Two pointers in turn, rows of their own, numbers with a sign. */
static int **turns(int **a, int **b, int n, int m, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                int s = a[i - 1][j] + a[i + 1][j] - a[i][j - 1] + a[i][j + 1];
                b[i][j] = s > 2 ? -1 : s < -1 ? 7 : a[i][j];
            }
        int **other = a;
        a = b;
        b = other;
    }
    return a;
}

/* Levels of one array, in one piece, without signs, in place along a line. */
static void pieces(unsigned *u, int n, int m, int steps)
{
    for (int t = 0; t < steps; t++) {
        unsigned *from = u + (t % 2) * n * m, *to = u + ((t + 1) % 2) * n * m;
        for (int i = 1; i < n - 1; i++)
            for (int j = 2; j < m - 2; j++)
                to[i * m + j] = (from[i * m + j - 2] + from[i * m + j + 2] + from[(i - 1) * m + j]) % 5 == 0 ? 3u : from[i * m + j];
    }
}

/* Labels, which are likely to be large. */
static void labels(int n, int m, int (*u)[m], int (*v)[m], int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                int most = u[i][j] > u[i - 1][j] ? u[i][j] : u[i - 1][j];
                v[i][j] = most > u[i][j + 1] ? most : u[i][j + 1];
            }
        int (*other)[m] = u;
        u = v;
        v = other;
    }
}

static int **rows(int n, int m)
{
    int **a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++) a[i] = malloc(m * sizeof **a);
    return a;
}

int main(int argc, char **argv)
{
    int most = argc > 1 ? atoi(argv[1]) : 3;
    for (int round = 0; round < most; round++) {
        /* In the second round, some number is large: in the middle, at an edge, or where nobody looks. */
        for (int place = 0; place < (round == 1 ? 3 : 1); place++) {
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M + 2; j++) now[i][j] = next[i][j] = (i * 7 + j * j + round) % 3 == 0;
            if (round == 1) now[place == 0 ? 17 : 0][place == 2 ? M + 1 : 20] = place == 1 ? -LARGE - 1 : LARGE + 1;
            of_the_file(11 + round);
            printf("%d %lu %lu\n", place, sum(&now[0][0], N * (M + 2)), sum(&next[0][0], N * (M + 2)));
        }
        const int n = 19 + 5 * round, m = 23;
        int **a = rows(n, m), **b = rows(n, m);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) a[i][j] = b[i][j] = (i * 5 + j * 3) % 4 - 1;
        if (round == 1) b[0][3] = LARGE;
        int **c = turns(a, b, n, m, 8 + round);
        unsigned long all = 0;
        for (int i = 0; i < n; i++) all = all * 31 + sum(c[i], m) + 7 * sum((c == a ? b : a)[i], m);
        printf("%lu\n", all);
        unsigned *u = malloc(sizeof *u * 2 * n * m);
        for (int i = 0; i < 2 * n * m; i++) u[i] = i % 7;
        if (round == 1) u[n * m + 2] = 4000000000u;
        pieces(u, n, m, 9 + round);
        printf("%lu\n", sum((int *)u, 2 * n * m));
        int (*v)[m] = malloc(n * sizeof *v), (*w)[m] = malloc(n * sizeof *w);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) v[i][j] = w[i][j] = (i * 77 + j * 1234577) % 100000007;
        labels(n, m, v, w, 6 + round);
        printf("%lu %lu\n", sum(v[0], n * m), sum(w[0], n * m));
        for (int i = 0; i < n; i++) {
            free(a[i]);
            free(b[i]);
        }
        free(a);
        free(b);
        free(u);
        free(v);
        free(w);
    }
    return 0;
}
