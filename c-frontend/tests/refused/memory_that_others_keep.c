/* The old memory is not given back: somebody may look at it. */
#include <stdlib.h>
static double *stepped(const double *u, int n)
{
    double *next = malloc(n * sizeof(double));
    next[0] = u[0];
    next[n - 1] = u[n - 1];
    for (int i = 1; i < n - 1; i++) next[i] = (u[i - 1] + u[i + 1]) / 2;
    return next;
}
int main(void)
{
    int n = 100;
    double *u = calloc(n, sizeof *u), *first = u;
    for (int t = 0; t < 40; t++) u = stepped(u, n);
    return (int)(u[n / 2] + first[n / 2]);
}
