/* What takes the place of the old memory has elements that nobody reads of that. */
#include <stdlib.h>
static double *stepped(const double *u, int n)
{
    double *next = malloc((n + 9) * sizeof(double));
    next[0] = 0;
    for (int i = 1; i < n - 1; i++) next[i] = (u[i - 1] + u[i + 1]) / 2;
    for (int i = n - 1; i < n + 9; i++) next[i] = 1;
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
