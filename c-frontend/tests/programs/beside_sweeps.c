/* What people write beside the sweep of a step: changes between old and new values, indices declared far away, statements
   that do nothing, a first step that differs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 40
#define ID(i, j, n) ((j) * ((n) + 2) + (i))

static double **rows(void)
{
    double **a = malloc(N * sizeof(double *)), *block = calloc(N * N, sizeof(double));
    for (int i = 0; i < N; i++) a[i] = block + i * N;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = (i * 7 + j * 3) % 11;
    return a;
}

static double total(double **a)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += a[i][j] * (i + 2 * j);
    return sum;
}

/* The change from what the element was two steps before; `d` keeps a part of it. */
static void changes(void)
{
    double **u = rows(), **old = rows(), **temp, d = 0, before;
    int k = 0, i, j;
    do {
        for (i = 1; i < N - 1; i++) {
            for (j = 1; j < N - 1; j++) {
                before = old[i][j];
                old[i][j] = (u[i][j - 1] + u[i][j + 1] + u[i - 1][j] + u[i + 1][j]) * 0.25;
                before -= old[i][j];
                d += (before < 0 ? -before : before);
            }
        }
        d /= (double)N * (double)N;
        temp = u;
        u = old;
        old = temp;
        k += 1;
    } while (k < 30 && d > 0.001);
    printf("%d %a %a\n", k, d, total(u));
}

/* A largest change, with a statement that was meant to be another one; places are written in two ways. */
static void largest(int n)
{
    double *u = calloc(n * n + 2, sizeof(double)), *v = calloc(n * n + 2, sizeof(double)), *swap, change = 1;
    int k = 0;
    for (int i = 0; i < n * n; i++) u[i] = v[i] = i % 7;
    while (k < 40 && change > 0.01) {
        if (k++ > 0) {
            swap = v;
            v = u;
            u = swap;
        }
        change = 0;
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
                u[i * n + j] = 0.25 * (v[n * i + j - 1] + v[n * i + j + 1] + v[n * (i - 1) + j] + v[n * (i + 1) + j]);
                if (u[i * n + j] - v[i * n + j] > change) {
                    change = u[i * n + j] - v[i * n + j];
                    if (change < 0) change * (-1);
                }
            }
    }
    printf("%d %a %a\n", k, change, u[n * n / 2]);
}

/* An index of its own for each neighbour, and a sum between the loops. */
static void indices(int n)
{
    int i, j, id, left, right, iter = 0;
    double *u = calloc((n + 2) * (n + 2), sizeof(double)), *v = calloc((n + 2) * (n + 2), sizeof(double));
    double error = 1;
    for (j = 1; j < n + 1; j++)
        for (i = 1; i < n + 1; i++) {
            id = ID(i, j, n);
            u[id] = (i * j) % 5;
        }
    while (error > 1e-3 && iter < 60) {
        for (j = 2; j < n; j++)
            for (i = 2; i < n; i++) {
                id = ID(i, j, n);
                left = ID(i - 1, j, n);
                right = ID(i + 1, j, n);
                v[id] = 0.25 * (u[left] + u[right] + u[ID(i, j - 1, n)] + u[ID(i, j + 1, n)]);
            }
        error = 0;
        for (j = 1; j < n + 1; j++)
            for (i = 1; i < n + 1; i++) {
                id = ID(i, j, n);
                error += pow(v[id] - u[id], 2);
            }
        error = sqrt(error) / n;
        iter++;
        for (j = 1; j < n + 1; j++)
            for (i = 1; i < n + 1; i++) {
                id = ID(i, j, n);
                u[id] = v[id];
            }
    }
    printf("%d %a %a\n", iter, error, u[ID(n / 2, n / 3, n)]);
}

/* Both branches read the neighbours: all of them are read in every step. */
static void first_differs(int steps)
{
    double **a = rows(), **b = rows(), **c = rows(), **swap;
    for (int t = 1; t < steps; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                if (t == 1)
                    a[i][j] = b[i][j] + 0.125 * (b[i + 1][j] + b[i - 1][j] + b[i][j - 1] + b[i][j + 1] - 4 * b[i][j]);
                else
                    a[i][j] = 2 * b[i][j] - c[i][j]
                              + 0.25 * (b[i + 1][j] + b[i - 1][j] + b[i][j - 1] + b[i][j + 1] - 4 * b[i][j]);
            }
        swap = c;
        c = b;
        b = a;
        a = swap;
    }
    printf("%a %a\n", total(a), total(b));
}

/* Scalars of the sweep are declared around a loop of trials, each of which assigns them again. */
static void trials(int steps)
{
    int trial, t, i, k;
    double half, a[2][N];
    for (trial = 0; trial < 3; trial++) {
        for (i = 0; i < N; i++) a[0][i] = a[1][i] = (i * (trial + 3)) % 7;
        for (t = 0; t < steps; t++)
            for (i = 1; i < N - 1; i++) {
                half = 0.5 * (a[t % 2][i - 1] + a[t % 2][i + 1]);
                k = i;
                a[(t + 1) % 2][k] = half;
            }
        do {
            half = a[0][N / 2];
            printf("%a\n", half);
        } while (half < 0);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    trials(20 + argc);
    changes();
    largest(30 + argc);
    indices(30 + argc);
    first_differs(20 + argc);
    return 0;
}
