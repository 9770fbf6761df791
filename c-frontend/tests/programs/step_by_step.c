/* What happens between every two steps: output of fields, a scalar that the next step reads, copies of the ends, every level
 * kept, random numbers, and pointers that change their turns behind all that. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif

static REAL *history;
static int seen, shown;

static void show(const REAL *field, int n, int step)
{
    shown += step;
    REAL least = field[0];
    for (int i = 1; i < n; i++)
        if (field[i] < least) least = field[i];
    printf("%d: %.6f %.6f\n", step, least, field[n / 2]);
}

static void kicked(int n, int steps)
{
    REAL *now = malloc(n * sizeof *now), *next = malloc(n * sizeof *next), *other;
    REAL before = 0, limit = 100;
    int i;
    for (i = 0; i < n; i++) now[i] = next[i] = (REAL)(i % 7) / 8;
    for (int t = 0; t < steps; t++) {
        REAL kick = (REAL)(rand() % 8) / 64;
        now[n / 3] += kick;
        for (i = 1; i < n - 1; i++) {
            REAL middle = (now[i - 1] + now[i + 1]) / 2;
            next[i] = now[i] + (middle - now[i]) / 4 + before / 1024;
        }
        next[0] = next[n - 2];
        next[n - 1] = next[1];
        show(next, n, i);
        before = next[n / 3] - before;
        for (i = 0; i < n; i++)
            history[i + t * n] = next[i];
        if (fabs(before) > limit) break;
        other = now;
        now = next;
        next = other;
    }
    printf("%.9g %d\n", (double)before, i);
    free(now);
    free(next);
}

/* `seen` is read by what another function does in each step: the loop that assigns it stays as it is written. */
static void report(void) { printf("seen %d\n", seen); }

static void watched(REAL (*a)[40], REAL (*b)[40], int steps)
{
    int left = steps;
    while (left--) {
        for (int i = 1; i < 29; i++)
            for (int j = 1; j < 39; j++)
                b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
        for (int i = 1; i < 29; i++) {
            seen = i * left;
            a[i][1] = b[i][1] + seen % 3;
        }
        report();
        if (left % 2) {
            for (int i = 1; i < 29; i++)
                for (int j = 1; j < 39; j++)
                    a[i][j] = b[i][j];
        } else {
            for (int i = 1; i < 29; i++)
                for (int j = 2; j < 39; j++)
                    a[i][j] = b[i][j] / 2;
        }
    }
}

int main(void)
{
    int sizes[] = { 3, 4, 19, 1200 };
    for (int k = 0; k < 4; k++) {
        history = calloc(sizes[k] * 12, sizeof *history);
        kicked(sizes[k], 12);
        double sum = 0;
        for (int i = 0; i < sizes[k] * 12; i++) sum += history[i] * (1 + i % 3);
        printf("%.9g\n", sum);
        free(history);
    }
    static REAL a[30][40], b[30][40];
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 40; j++) a[i][j] = b[i][j] = (REAL)(i * j % 11);
    watched(a, b, 9);
    double sum = 0;
    for (int i = 0; i < 30; i++)
        for (int j = 0; j < 40; j++) sum += a[i][j] * (1 + (i + j) % 5);
    printf("%.9g %d\n", sum, shown);
    return 0;
}
