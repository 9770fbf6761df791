/* What each step leaves in scalars beside its arrays: sums that are printed, the largest change, counts; rows that were
 * allocated one by one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef REAL
#define REAL double
#endif
#define BIGGER(a, b) ((a) > (b) ? (a) : (b))

static REAL **rows_of(int n, int m)
{
    REAL **rows = malloc(n * sizeof *rows);
    for (int i = 0; i < n; i++) {
        rows[i] = malloc(m * sizeof **rows);
        for (int j = 0; j < m; j++) rows[i][j] = (i * j) % 5;
    }
    return rows;
}

/* A sum, a maximum and a count in the sweep, of which each is printed. */
static void printed(REAL **u, REAL **v, int n, int m)
{
    int i, j, it;
    for (it = 0; it < 6; it++) {
        REAL largest = 0, sum = 0, old;
        int moved = 0;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                old = u[i][j];
                sum += v[i][j] - old;
                largest = BIGGER(fabs(v[i][j] - old), largest);
                if (v[i][j] != old) moved++;
            }
        printf("%d: %a %a %d %d %d\n", it, (double)sum, (double)largest, moved, i, j);
        if (sum > 100) break;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) u[i][j] = v[i][j];
    }
}

/* The same as a function whose value decides, of two sums. */
static double sweep(REAL *to, const REAL *from, int n)
{
    double top = 0, bottom = 0;
    for (int i = 1; i < n - 1; i++) {
        to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
        top += (to[i] - from[i]) * (to[i] - from[i]);
        bottom += to[i] * to[i];
    }
    return sqrt(top / (bottom + 1e-30));
}

static void relative(int n)
{
    REAL *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *other;
    double error = 1;
    int steps = 0;
    for (int i = 0; i < n; i++) a[i] = b[i] = i % 11;
    while (error > 1e-2 && steps < 40) {
        error = sweep(b, a, n);
        other = a;
        a = b;
        b = other;
        steps++;
    }
    printf("%d %a %a\n", steps, error, (double)a[n / 2]);
    free(a);
    free(b);
}

/* The old value is gone behind the sweep: this one stays as it is written. */
static void in_place(REAL *a, int n)
{
    for (int it = 0; it < 5; it++) {
        REAL change = 0;
        for (int i = 1; i < n - 1; i++) {
            REAL old = a[i];
            a[i] = (a[i - 1] + a[i + 1]) / 2;
            change += a[i] - old;
        }
        printf("%a\n", (double)change);
    }
}

/* And here what is compared is another array, in the same memory. */
static void alias(REAL *to, REAL *from, REAL *exact, int n)
{
    for (int it = 0; it < 4; it++) {
        REAL off = 0;
        for (int i = 1; i < n - 1; i++) {
            to[i] = (from[i - 1] + from[i + 1]) / 2;
            off += to[i] - exact[i];
        }
        printf("%a\n", (double)off);
        for (int i = 1; i < n - 1; i++) from[i] = to[i];
    }
}

/* A scalar of the function whose last value nobody reads. */
static double again(REAL *a, REAL *b, int n)
{
    double near, sum = 0;
    for (int it = 0; it < 7; it++) {
        for (int i = 1; i < n - 1; i++) {
            near = a[i - 1] + a[i + 1];
            b[i] = near * 0.5;
        }
        for (int i = 1; i < n - 1; i++) a[i] = b[i];
    }
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0) continue;
        near = a[i] * i;
        sum += near;
    }
    return sum;
}

/* What a block or a loop of the step writes, it writes in every step. */
static void written(REAL *a, REAL *b, int n)
{
    for (int it = 0; it < 9; it++) {
        for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 2;
        for (int i = 1; i < n - 1; i++) a[i] = b[i];
        {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += a[i];
            printf("%a", sum);
        }
        for (int i = 0; i < 3; i++) putchar('.');
        if (it % 4 == 0) puts("");
    }
}

/* What some steps alone leave behind, the last of them long before the end; a count that asks clocks. */
static void left(REAL *a, REAL *b, int n)
{
    REAL last = -1;
    int seen = -1, late = 0;
    clock_t begin, spent = 0;
    for (int it = 0; it < 20; it++) {
        begin = clock();
        for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 4;
        for (int i = 1; i < n - 1; i++) a[i] = b[i];
        spent += clock() - begin;
        late += spent >= 0;
    }
    for (int it = 0; it < 20; it++) {
        for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 2 - a[i] * it;
        for (int i = 1; i < n - 1; i++) a[i] = b[i] / (it + 3);
        if (it % 7 == 3) last = a[n / 2];
    }
    for (int it = 0; it < 20; it++) {
        for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 3;
        for (int i = 1; i < n - 1; i++) a[i] = b[i];
        for (int i = 1; i < n - 1; i++)
            if (fabs(a[i]) > 1e-4 && it < 5) seen = i + 100 * it;
    }
    printf("%a %d %d\n", (double)last, seen, late);
}

/* Steps that there are none of any more divide by nothing. */
static void divided(REAL *a, REAL *b, int n)
{
    double change = 1;
    int it = 0;
    while (change > 1e-2 && 1000 / (9 - it) > 0) {
        change = 0;
        for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 4;
        for (int i = 1; i < n - 1; i++) {
            change = fmax(change, fabs(b[i] - a[i]));
            a[i] = b[i];
        }
        it++;
    }
    printf("%d\n", it);
}

int main(void)
{
    REAL **u = rows_of(21, 33), **v = rows_of(21, 33);
    printed(u, v, 21, 33);
    relative(70);
    REAL line[60], more[60];
    for (int i = 0; i < 60; i++) line[i] = more[i] = i * i % 13;
    in_place(line, 60);
    alias(line, more, line + 1, 59);
    alias(line, more, more, 60);
    printf("%a\n", again(line, more, 60));
    written(line, more, 60);
    left(line, more, 60);
    divided(line, more, 60);
    double sum = 0;
    for (int i = 0; i < 21; i++)
        for (int j = 0; j < 33; j++) sum += u[i][j] * (1 + j % 3) + v[i][j];
    for (int i = 0; i < 60; i++) sum += line[i] * i;
    printf("%a\n", sum);
    for (int i = 0; i < 21; i++) free(u[i]), free(v[i]);
    free(u);
    free(v);
    return 0;
}
