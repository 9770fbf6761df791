/* Guards of many forms: chains, signs, named scalars, clamped indices, loops over neighbours, a point within. */
#include <stdio.h>
#include <stdlib.h>
#ifndef N
#define N 60
#endif
#ifndef STEPS
#define STEPS 7
#endif
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

int main(void)
{
    const int n = N;
    float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c), *w = malloc(n * sizeof *w);
    for (int i = 0; i < n; i++) {
        a[i] = b[i] = c[i] = (float)(i * 13 % 17) / 8;
        w[i] = (float)(i % 5) / 4;
    }
#pragma scop
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < n; i++) {
            float sum = 0;
            for (int k = -2; k <= 2; k++)
                if (i + k >= 0 && i + k < n) sum += 0.2f * a[i + k];
            b[i] = sum + (i > 0 ? w[i - 1] * i : 0.5f);
            /* Assigned again where a condition on data holds. */
            if (a[i] > 1.5f) b[i] = 1.5f;
        }
        for (int i = n - 1; i >= 0; i--) {
            int left = i > 0 ? i - 1 : 0;
            c[i] = 0.5f * (b[left] + b[MIN(i + 1, n - 1)]) - 0.125f * b[MAX(i - 1, 0)];
            if (i == 4) c[i] += 1;
        }
        for (int i = 0; i < n; i++)
            if ((unsigned)(i - 1) < (unsigned)(n - 2)) a[i] = c[i - 1] - 0.5 * c[i + 1];
    }
#pragma endscop
    for (int i = 0; i < n; i++) printf("%a %a %a\n", a[i], b[i], c[i]);
    return 0;
}
