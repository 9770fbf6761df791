/* What a step does with its memory depends on what it holds. */
#include <stdlib.h>

static void step(double *u, int n) {
    double *next = malloc(n * sizeof(double));
    for (int i = 1; i < n - 1; i++) next[i] = 0.5 * (u[i - 1] + u[i + 1]);
    if (next[5] > 3) {
        free(next);
        return;
    }
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
    free(next);
}

int main(void) {
    double u[100] = { 1 };
    for (int t = 0; t < 20; t++) step(u, 100);
    return u[5] > 0;
}
