// Tests in every step as people write them: a sum of squares with its root, a flag, a function that returns its maximum.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 24
#ifndef REAL
#define REAL double
#endif

typedef REAL real;
typedef struct {
    int n, most;
    double tolerance;
} Settings;
typedef struct {
    real *now, *next;
} Fields;
real a[N][N], b[N][N];

static real sweep(Fields *f, const Settings *s)
{
    int n = s->n;
    real worst = 0;
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) {
            f->next[i * n + j] = 0.25 * (f->now[(i - 1) * n + j] + f->now[(i + 1) * n + j] + f->now[i * n + j - 1] + f->now[i * n + j + 1]);
            real change = fabs(f->next[i * n + j] - f->now[i * n + j]);
            if (change > worst) worst = change;
        }
    real *turn = f->now;
    f->now = f->next;
    f->next = turn;
    return worst;
}

/* The loops go along columns, and not in the order of the subscripts. */
static int by_columns(void)
{
    int rounds;
    for (rounds = 0; rounds < 300; rounds++) {
        real most = 0;
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 3; i++) {
                b[i][j] = 0.25 * (a[i + 1][j] + a[i - 1][j] + a[i][j + 1] + a[i][j - 1]);
                most = fmax(most, fabs(b[i][j] - a[i][j]));
            }
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < N - 3; i++) a[i][j] = b[i][j];
        if (most < 0.05) break;
    }
    return rounds;
}

static int by_columns_of(real *now, real *next, int n, int m)
{
    int rounds = 0;
    real sum;
    do {
        sum = 0;
        for (int j = 1; j < m - 1; j++)
            for (int i = 1; i < n - 1; i++) {
                real change = 0.25 * (now[(i + 1) * m + j] + now[(i - 1) * m + j] + now[i * m + j + 1] + now[i * m + j - 1]) - now[i * m + j];
                next[i * m + j] = now[i * m + j] + change;
                sum += change * change;
            }
        for (int j = 1; j < m - 1; j++)
            for (int i = 1; i < n - 1; i++) now[i * m + j] = next[i * m + j];
        rounds++;
    } while (rounds < 400 && sum > 0.5);
    return rounds;
}

int main(void)
{
    int rounds = 0, done = 0;
    double norm;
    for (int j = 0; j < N; j++) a[0][j] = b[0][j] = 10.0 + j % 3;
    do {
        norm = 0.0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                b[i][j] = 0.25 * (a[i + 1][j] + a[i - 1][j] + a[i][j + 1] + a[i][j - 1]);
                norm += (b[i][j] - a[i][j]) * (b[i][j] - a[i][j]);
            }
        memcpy(a, b, sizeof(b));
        rounds++;
        norm = sqrt(norm);
        if (rounds % 40 == 0) printf("%d %a\n", rounds, norm);
    } while (norm > 0.05 && rounds < 1000);
    printf("%d %a %a\n", rounds, norm, (double)a[N / 2][3]);
    for (rounds = 0; rounds < 900 && !done; rounds++) {
        real most = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                b[i][j] = 0.25 * (a[i + 1][j] + a[i - 1][j] + a[i][j + 1] + a[i][j - 1]);
                most = fmax(most, fabs(b[i][j] - a[i][j]));
            }
        memcpy(a, b, N * N * sizeof(real));
        if (most < 0.0005) done = 1;
    }
    printf("%d %d %a\n", rounds, done, (double)a[N / 2][3]);
    Settings s = { N, 700, 0.001 };
    Fields f = { calloc(N * N, sizeof(real)), calloc(N * N, sizeof(real)) };
    for (int j = 0; j < N; j++) f.now[j] = f.next[j] = 5.0;
    double error = 1;
    int step;
    for (step = 0; step < s.most; step++) {
        error = sweep(&f, &s);
        if (error < s.tolerance) break;
    }
    printf("%d %a %a\n", step, error, (double)f.now[5 * N + 7]);
    for (int j = 0; j < N; j++) a[0][j] += 20.0;
    const int first = by_columns();
    for (int k = 0; k < 20 * 28; k++) f.now[k] = f.next[k] = k * 7 % 31;
    const int second = by_columns_of(f.now, f.next, 20, 28);
    printf("%d %a %d %a\n", first, (double)a[4][9], second, (double)f.now[5 * 28 + 7]);
    return 0;
}
