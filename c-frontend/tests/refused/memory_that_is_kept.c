/* Somebody else knows where the memory of a step is. */
#include <stdlib.h>

static double *last;

static void step(double *u, int n) {
    double *next = malloc(n * sizeof *next);
    if (next == NULL) abort();
    for (int i = 1; i < n - 1; i++) next[i] = 0.5 * (u[i - 1] + u[i + 1]);
    for (int i = 1; i < n - 1; i++) u[i] = next[i];
    last = next;
}

int main(void) {
    double u[100] = { 1 };
    for (int t = 0; t < 20; t++) step(u, 100);
    return last[5] > 0;
}
