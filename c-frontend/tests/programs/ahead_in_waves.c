/* Steps that print or test a sum of theirs in order, so that they run ahead of the program, and what takes them back: a test in the middle of a
 * block, pointers that take turns otherwise than before, and numbers that change. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif

static void show(int n, int m, REAL (*a)[m], REAL (*b)[m])
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) sum = sum * 0.999 + a[i][j] + 0.5 * b[i][j];
    printf("%a\n", sum);
}

/* Two pointers in turn; the step that is the last one is known by its sum. */
static void until(int n, int m, REAL (*u)[m], REAL (*v)[m], int most, const double *tolerance)
{
    double d = 0;
    int steps = 0;
    for (int t = 0; t < most; t++) {
        d = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                d += (v[i][j] - u[i][j]) * (v[i][j] - u[i][j]);
            }
        d = sqrt(d);
        printf("%d %a\n", t, d);
        if (d < *tolerance) break;
        REAL (*other)[m] = u;
        u = v;
        v = other;
        steps++;
    }
    printf("%d\n", steps);
    show(n, m, u, v);
}

/* The largest change, far reaching neighbours, a number that changes once, and pointers that once do not. */
static void changes(int n, int m, REAL (*u)[m], REAL (*v)[m], int most)
{
    REAL weight = (REAL)0.125, largest;
    int t = 0;
    do {
        largest = 0;
        for (int i = 2; i < n - 2; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = u[i][j] + weight * (u[i - 2][j] + u[i + 2][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
                REAL change = v[i][j] - u[i][j];
                change *= change;
                largest = change > largest ? change : largest;
            }
        printf("%a\n", (double)largest);
        t++;
        if (t == 13) weight /= 2;
        if (t % 17 != 16) {
            REAL (*other)[m] = u;
            u = v;
            v = other;
        }
    } while (t < most && largest > 0);
    show(n, m, u, v);
}

/* Edges of a second loop, in the same step. */
static void edges(int n, int m, REAL (*u)[m], REAL (*v)[m], int most)
{
    for (int t = 1; t <= most; t++) {
        double sum = 1;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (u[i - 1][j] + 2 * u[i][j] + u[i + 1][j]) * (REAL)0.25;
                sum += v[i][j] * u[i][j + 1];
            }
        printf("%a\n", sum);
        REAL (*other)[m] = u;
        u = v;
        v = other;
    }
    show(n, m, u, v);
}

/* A copy back behind the sum, with a statement of scalars between, and a scalar that each point assigns anew. */
static void copied(int n, int m, REAL (*u)[m], REAL (*v)[m], int most, double tolerance)
{
    double d = tolerance + 1, change = 0;
    int rounds = 0;
    while (d / sqrt(n * m) > tolerance && rounds < most) {
        d = 0.0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                change = v[i][j] - u[i][j];
                d += change * change;
            }
        d = sqrt(d);
        rounds++;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) u[i][j] = v[i][j];
    }
    printf("%d %a %a\n", rounds, d, change);
    show(n, m, u, v);
}

/* Sums of two loops, the second of which overwrites what the first one reads. */
static void of_two_loops(int n, int m, REAL (*u)[m], REAL (*v)[m], int most, double tolerance)
{
    double moved = 1, all = 0;
    int i = 0, j = 0, t;
    for (t = 0; t < most && sqrt(moved) > tolerance; t++) {
        all = moved = 0;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) {
                v[i][j] = u[i][j] + (REAL)0.2 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
                all += v[i][j];
            }
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) {
                double d = v[i][j] - u[i][j];
                moved += d * d;
                u[i][j] = v[i][j];
            }
        printf("%a %a\n", all, moved);
    }
    printf("%d\n", t);
    show(n, m, u, v);
}

/* The index that a loop of sums alone leaves. */
static void left_behind(int n, int m, REAL (*u)[m], REAL (*v)[m], int most)
{
    int i = 0;
    for (int t = 0; t < most; t++) {
        double sum = 0;
        for (i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) v[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1]) / 3;
        for (i = 0; i < n; i++)
            for (int j = 0; j < m; j++) sum += v[i][j];
        printf("%a\n", sum);
        REAL (*other)[m] = u;
        u = v;
        v = other;
    }
    printf("%d\n", i);
    show(n, m, u, v);
}

/* One sum over two loops: these must not run at the same time. */
static void over_two_loops(int n, int m, REAL (*u)[m], REAL (*v)[m], int most)
{
    for (int t = 0; t < most; t++) {
        double sum = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1]) / 3;
                sum = sum * 0.5 + v[i][j];
            }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                u[i][j] = (v[i - 1][j] + v[i + 1][j] + v[i][j + 1]) / 3;
                sum = sum * 0.5 + u[i][j];
            }
        printf("%a\n", sum);
    }
    show(n, m, u, v);
}

/* A scalar that loops leave which have no rounds. */
static void kept(int n, int m, REAL (*u)[m], REAL (*v)[m], int most, int none)
{
    double last = -1;
    for (int t = 0; t < most; t++) {
        double sum = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (u[i - 1][j] + u[i + 1][j] + u[i][j - 1]) / 3;
                sum += v[i][j];
            }
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < none; j++) last = v[i][j];
        printf("%a %a\n", sum, last);
        last = t;
        REAL (*other)[m] = u;
        u = v;
        v = other;
    }
    show(n, m, u, v);
}

/* The first row of one array is the last one of the other: only the copy comes to both. */
static void shares_a_row(int n, int m, REAL *memory, int most)
{
    REAL (*u)[m] = (REAL (*)[m])memory, (*v)[m] = u + n - 1;
    for (int t = 0; t < most; t++) {
        double sum = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (u[i - 1][j] + u[i][j - 1] + u[i][j + 1]) / 3;
                sum += (v[i][j] - u[i][j]) * (v[i][j] - u[i][j]);
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) u[i][j] = v[i][j];
        printf("%a\n", sum);
    }
}

/* Two pairs of arrays in turn, the second of which begins a row later. */
static void shifted(int n, int m, REAL *memory, int most)
{
    REAL (*u)[m] = (REAL (*)[m])memory, (*v)[m] = u + n + 1;
    for (int t = 0; t < most; t++) {
        double sum = 0;
        for (int i = 1; i < n - 2; i++)
            for (int j = 1; j < m - 1; j++) {
                v[i][j] = (u[i - 1][j] + 2 * u[i][j] + u[i + 1][j - 1]) * (REAL)0.25;
                sum += v[i][j];
            }
        printf("%a\n", sum);
        if (t % 2 == 0) {
            REAL (*other)[m] = u + 1;
            u = v - 1;
            v = other;
        } else {
            REAL (*other)[m] = u + 1;
            u = v - 1;
            v = other;
        }
    }
}

int main(void)
{
    for (int n = 5; n < 40; n += 17) {
        const int m = n + 3;
        REAL (*u)[m] = malloc(n * sizeof *u), (*v)[m] = malloc(n * sizeof *v);
        double tolerance[] = { 3, 0.4, 0 };
        for (int kind = 0; kind < 12; kind++) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) u[i][j] = v[i][j] = (REAL)((i * 7 + j * 5) % 11) / 4;
            if (kind < 3) until(n, m, u, v, 21 + kind, &tolerance[kind]);
            if (kind == 3) changes(n, m, u, v, 45);
            if (kind == 4) edges(n, m, u, v, 19);
            if (kind == 5) copied(n, m, u, v, 31, 1e-3);
            if (kind == 6) copied(n, m, u, v, 18, 0.05);
            if (kind == 7) of_two_loops(n, m, u, v, 29, n / 60.0);
            if (kind == 8) over_two_loops(n, m, u, v, 17);
            if (kind == 9) left_behind(n, m, u, v, 14);
            if (kind == 10) kept(n, m, u, v, 12, 0);
            if (kind == 11) kept(n, m, u, v, 12, 2);
        }
        free(u);
        free(v);
        REAL *memory = malloc(sizeof(REAL) * (2 * n + 2) * m);
        for (int i = 0; i < (2 * n + 2) * m; i++) memory[i] = (REAL)(i * 7 % 13);
        shifted(n, m, memory, 21);
        shares_a_row(n, m, memory, 12);
        double sum = 0;
        for (int i = 0; i < (2 * n + 2) * m; i++) sum = sum * 0.99 + memory[i];
        printf("%a\n", sum);
        free(memory);
    }
    return 0;
}
