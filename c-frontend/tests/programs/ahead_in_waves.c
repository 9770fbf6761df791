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

int main(void)
{
    for (int n = 5; n < 40; n += 17) {
        const int m = n + 3;
        REAL (*u)[m] = malloc(n * sizeof *u), (*v)[m] = malloc(n * sizeof *v);
        double tolerance[] = { 3, 0.4, 0 };
        for (int kind = 0; kind < 5; kind++) {
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) u[i][j] = v[i][j] = (REAL)((i * 7 + j * 5) % 11) / 4;
            if (kind < 3) until(n, m, u, v, 21 + kind, &tolerance[kind]);
            if (kind == 3) changes(n, m, u, v, 45);
            if (kind == 4) edges(n, m, u, v, 19);
        }
        free(u);
        free(v);
    }
    return 0;
}
