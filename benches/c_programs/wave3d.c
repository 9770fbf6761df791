/* Waves in space, two buffers that main exchanges. */
#include <stdio.h>
#include <stdlib.h>
#define IDX(i, j, k) (((size_t)(i) * n + (j)) * n + (k))
static void step(int n, const float *p, float *q, const float *v) {
    for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++)
        q[IDX(i, j, k)] = 2 * p[IDX(i, j, k)] - q[IDX(i, j, k)] + v[IDX(i, j, k)] * (p[IDX(i + 1, j, k)] + p[IDX(i - 1, j, k)] + p[IDX(i, j + 1, k)] + p[IDX(i, j - 1, k)] + p[IDX(i, j, k + 1)] + p[IDX(i, j, k - 1)] - 6 * p[IDX(i, j, k)]);
}
int main(void) {
    int n = 320, steps = 60; size_t all = (size_t)n * n * n;
    float *p = calloc(all, sizeof(float)), *q = calloc(all, sizeof(float)), *v = malloc(all * sizeof(float));
    for (size_t x = 0; x < all; x++) v[x] = 0.1f + 0.05f * (x % 7) / 7;
    p[IDX(n / 2, n / 2, n / 2)] = 1;
    for (int t = 0; t < steps; t++) { step(n, p, q, v); float *s = p; p = q; q = s; }
    double s = 0; for (size_t x = 0; x < all; x += 11) s += p[x] * (x % 5); printf("%.17g\n", s); return 0;
}
