#include <stdlib.h>
int main(void)
{
    int n = 50;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    int *inside = calloc(n, sizeof *inside);
#pragma scop
    for (int t = 0; t < 9; t++) {
        for (int i = 0; i < n; i++) b[i] = inside[i] ? 0.5 * (a[i - 1] + a[i + 1]) : a[i];
        for (int i = 0; i < n; i++) a[i] = b[i];
    }
#pragma endscop
    return 0;
}
