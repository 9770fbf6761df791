/* Indices that functions wrap around, which end the program where they are given nonsense. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 61
#endif

static int remainder_of(int i, int n)
{
    int found;
    if (n == 0) {
        fprintf(stderr, "no remainder by 0\n");
        exit(1);
    }
    found = i % n;
    if (found < 0) found = found + abs(n);
    return found;
}

static int wrapped(int i, int low, int high)
{
    int first, last, value, wide;
    if (low < high) {
        first = low;
        last = high;
    } else {
        first = high;
        last = low;
    }
    wide = last + 1 - first;
    if (wide == 1) value = first;
    else value = first + remainder_of(i - first, wide);
    return value;
}

static void carried(double *u, double *next, int n, int steps, double speed)
{
    int left, right;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            left = wrapped(i - 1, 0, n - 1);
            right = wrapped(i + 1, 0, n - 1);
            next[i] = u[i] - speed / 2 * (u[right] - u[left]);
        }
        for (int i = 0; i < n; i++) u[i] = next[i];
    }
}

static void step(double *to, const double *from, int n, double rate)
{
    if (to == NULL || n < 2) {
        printf("nothing to do\n");
        exit(2);
    }
    if (rate > 0.5) {
        printf("unstable\n");
        abort();
    }
    for (int i = 0; i < n; i++)
        to[i] = from[i] + rate * (from[((i - 1) % n + n) % n] - 2 * from[i] + from[(i + 1) % n]);
}

int main(void)
{
    double *u = malloc(N * sizeof *u), *v = malloc(N * sizeof *v), *other;
    for (int i = 0; i < N; i++) u[i] = v[i] = sin(i * 0.3);
    carried(u, v, N, 13, 0.4);
    carried(u, v, 1, 3, 0.4);
    for (int t = 0; t < 11; t++) {
        step(v, u, N, 0.2);
        other = u;
        u = v;
        v = other;
    }
    for (int i = 0; i < N; i++) printf("%a\n", u[i]);
    free(u);
    free(v);
#ifdef ENDS
    /* The program ends within the time loop. */
    u = calloc(N, sizeof *u), v = calloc(N, sizeof *v);
    fflush(stdout);
    for (int t = 0; t < 3; t++) {
        step(v, u, N, 0.3);
        step(u, v, N, t + ENDS);
    }
#endif
    return 0;
}
