/* Columns are those of another width than the rows of the grid. */
#include <stdlib.h>
int main(void)
{
    int n = 40, m = 30, w = 20;
    double *u = malloc(n * m * sizeof *u), *v = malloc(n * m * sizeof *v);
    for (int t = 0; t < 40; t++) {
        for (int k = m; k < n * m - m; k++) {
            if (k % w == 0 || k % w == w - 1) continue;
            v[k] = 0.25 * (u[k - 1] + u[k + 1] + u[k - m] + u[k + m]);
        }
        double *held = u; u = v; v = held;
    }
    return (int)u[n];
}
