/* The last column is computed, too: its neighbour is the first one of the next row. */
#include <stdlib.h>
int main(void)
{
    int n = 40, m = 30;
    double *u = malloc(n * m * sizeof *u), *v = malloc(n * m * sizeof *v);
    for (int t = 0; t < 40; t++) {
        for (int k = m + 1; k < n * m - m - 1; k++) {
            if (k % m == 0) continue;
            v[k] = 0.25 * (u[k - 1] + u[k + 1] + u[k - m] + u[k + m]);
        }
        double *held = u; u = v; v = held;
    }
    return (int)u[n];
}
