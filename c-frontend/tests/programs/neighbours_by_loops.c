/* Loops over the neighbours of a point, elements by pointers, indices that start before their loop, and ends by `i + 1 < n`. */
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 9
#endif
static int alive(const unsigned char *from, int m, int n, int i, int j)
{
    int count = 0, a, b;
    for (a = i - 1; a <= i + 1; a++)
        for (b = j - 1; b < j + 2; b++)
            if (a >= 0 && a < m && b >= 0 && b < n && !(a == i && b == j)) count += *(from + a * n + b);
    return count;
}
int main(void)
{
    int m = 19, n = 23;
    unsigned char *now = malloc(m * n), *then = malloc(m * n);
    double *u = malloc(n * sizeof *u), *v = malloc(n * sizeof *v);
    for (int i = 0; i < m * n; i++) now[i] = i * i % 7 < 3;
    for (int i = 0; i < n; i++) u[i] = v[i] = i % 5;
    for (int t = 0; t < STEPS; t++) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                int near = alive(now, m, n, i, j);
                *(then + i * n + j) = near == 3 || (near == 2 && *(now + i * n + j));
            }
        unsigned char *held = now; now = then; then = held;
    }
    for (int t = 0; t < STEPS; t++) {
        int i = 1;
        for (; i + 1 < n; i++) *(v + i) = (*(u + i - 1) + *(u + i) + *(u + i + 1)) / 3;
        for (size_t k = 1; k + 1 < (size_t)n; k++) u[k] = v[k];
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) putchar(now[i * n + j] ? '#' : '.');
        putchar('\n');
    }
    for (int i = 0; i < n; i++) printf("%a\n", u[i]);
    return 0;
}
