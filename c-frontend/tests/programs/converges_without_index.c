/* No index at all, pointers that take turns, the maximum in loops of its own, through a macro. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define N 67
int main(void)
{
    double *u = calloc(N, sizeof *u), *v = calloc(N, sizeof *v), *tmp, diff;
    int n = 0, i;
    u[0] = v[0] = 2.0; u[N - 1] = v[N - 1] = -1.0;
#pragma scop
    do {
        for (i = 1; i < N - 1; i++)
            v[i] = 0.5 * (u[i - 1] + u[i + 1]);
        diff = 0;
        for (i = 1; i < N - 1; i++) {
            double d = fabs(v[i] - u[i]);
            diff = MAX(diff, d);
        }
        tmp = u; u = v; v = tmp;
        n++;
        if (n == 500) { printf("long: %a\n", diff); break; }
    } while (diff > 1e-3);
#pragma endscop
    printf("%d %a %d\n", n, diff, i);
    for (i = 0; i < N; i++) printf("%a %a\n", u[i], v[i]);
    free(u); free(v);
    return 0;
}
