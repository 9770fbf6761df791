/* Gauss-Seidel in place in one dimension, two points far, with a coefficient. */
#include <stdio.h>
#ifndef STEPS
#define STEPS 9
#endif
enum { N = 300 };
static double a[N], c[N];

static void line(void)
{
#pragma scop
    for (int t = 0; t < STEPS; t++)
        for (int i = 2; i < N - 2; i++)
            a[i] = c[i] * a[i - 2] + 0.25 * a[i - 1] + 0.125 * a[i] + 0.25 * a[i + 1] + 0.0625 * a[i + 2];
#pragma endscop
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * i % 17;
        c[i] = i % 5 * 0.1;
    }
    line();
    for (int i = 0; i < N; i++) printf("%a\n", a[i]);
    return 0;
}
