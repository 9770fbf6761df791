/* Edges of the new memory are what `malloc` leaves there. */
#include <stdlib.h>
static double *stepped(const double *u, int n)
{
    double *next = malloc(n * sizeof(double));
    for (int i = 1; i < n - 1; i++) next[i] = (u[i - 1] + u[i + 1]) / 2;
    return next;
}
int main(void)
{
    int n = 100;
    double *u = calloc(n, sizeof *u);
    for (int t = 0; t < 40; t++) {
        double *next = stepped(u, n);
        free(u);
        u = next;
    }
    return (int)u[n / 2];
}
