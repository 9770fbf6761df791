/* The values of a point in small arrays, weights and neighbours in tables; one that nobody declares const. */
#include <stdio.h>
#ifndef REAL
#define REAL double
#endif
#define N 120
#define STEPS 25
static const int offset[] = { 0, 1, -1, 2, -2 };
static REAL weight[5] = { 0.5, 1.0 / 8, 1.0 / 8, 0.25f * 0.25, 1.0 / 16 };
static const short mirrored[2][2] = { { -1, 1 }, { 2 } };
static REAL a[N], b[N];

typedef struct { REAL damping; int length; } range;

static void step(const range own)
{
    static const REAL half[2] = { 0.5, 0.5 };
    int k;
    for (int i = 2; i < N - 2; i++) {
        REAL f[5] = { a[i] }, sum = 0;
        for (k = 1; k < 5; k++)
            f[k] = a[i + offset[k]];
        for (k = 4; k >= 0; k -= 1)
            sum += weight[k] * f[k];
        REAL ends[2][2];
        for (k = 0; k < 2; k++)
            for (int m = 0; m < 2; m++)
                ends[k][m] = half[m] * a[i + mirrored[k][m]];
        if (sum > 3)
            f[2] = ends[0][1];
        b[i] = own.damping * sum + (f[2] - ends[1][1]) / 64;
    }
    for (int i = 2; i < N - 2; i++)
        a[i] = b[i];
}

int main(void)
{
    range own = { 0.99f, N };
    for (int i = 0; i < N; i++)
        a[i] = (i * 7 % 11) * 0.5f;
    for (int t = 0; t < STEPS; t++)
        step(own);
    for (int i = 0; i < N; i++)
        printf("%a\n", (double)a[i]);
    return 0;
}
