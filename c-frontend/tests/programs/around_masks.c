/* Tori that wrap around by masks which have names, of lengths that have others, in any order: the program asks whether both go together. */
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 29
#endif
#define SIDE 32
#define MASK (SIDE - 1)
static const int fixed = SIDE - 1;
static int length, mask = SIDE - 1;
unsigned bits = 5;
static double u[SIDE][SIDE], v[SIDE][SIDE];

static void shown(const double *at, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += at[i] * (i % 7);
    printf("%a\n", sum);
}

static void sides(void)
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                v[i][j] = 0.2 * (u[i][j] + u[MASK & (i - 1)][j] + u[(i + SIDE + 1) & fixed][j] + u[i][(j - 1) & mask] + u[i][mask & (j + 1)]);
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) u[i][j] = v[i][j];
    }
    shown(&u[0][0], SIDE * SIDE);
}

/* One of the names is another number than the other one says, where the caller likes it. */
static void ring(double *a, double *b, int n)
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < length; i++)
            b[i] = 0.25 * (a[(i - n - 1) & (n - 1)] + a[(i + 2 * n - 2) & (n - 1)] + a[~-n & (1 + i)] + a[(i + mask) & mask]);
        for (int i = 0; i < length; i++) a[i] = b[i];
    }
    shown(a, length);
}

static void shifted(double *a, double *b)
{
    const int n = 1 << bits, around = (1 << bits) - 1;
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < n; i++) b[i] = 0.4 * (a[(i - 3) & around] + a[(i + 3) & around]);
        for (int i = 0; i < n; i++) a[i] = b[i];
    }
    shown(a, n);
}

int main(void)
{
#ifdef ANY_SIDES
    /* The loop's end, the length that the subscripts have, the mask. */
    static const int all[][3] = { { 64, 64, 63 }, { 64, 64, 31 }, { 64, 32, 63 }, { 60, 64, 63 }, { 60, 60, 59 }, { 64, 64, 15 }, { 2, 2, 1 }, { 1, 1, 0 }, { 0, 1, 0 } };
#else
    static const int all[][3] = { { 64, 64, 63 }, { 32, 32, 31 } };
#endif
    double *a = malloc(256 * sizeof *a), *b = malloc(256 * sizeof *b);
    for (int i = 0; i < SIDE * SIDE; i++) u[i / SIDE][i % SIDE] = i * 13 % 29;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        length = SIDE;
        mask = SIDE - 1;
        if (k == 0) sides();
#ifdef ANY_SIDES
        mask = SIDE / 2 - 1;
        if (k == 0) sides();
        mask = SIDE - 2;
        if (k == 0) sides();
#endif
        for (int i = 0; i < 256; i++) a[i] = i * 7 % 11;
        bits = 5 + k % 2;
        shifted(a, b);
        length = all[k][0];
        mask = all[k][2];
        ring(a, b, all[k][1]);
    }
    free(a);
    free(b);
    return 0;
}
