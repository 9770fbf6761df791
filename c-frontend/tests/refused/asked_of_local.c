#include <math.h>
#include <stdio.h>
#define N 100
double u[N], v[N];
void f(int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        double most = 0;
        for (int i = 1; i < n - 1; i++) {
            v[i] = u[i];
            u[i] = 0.5 * (u[i - 1] + u[i + 1]);
            most = fmax(most, fabs(v[i] - u[i + 1]));
        }
        if (most > 0.3 || t >= 400)
            printf("%d %g\n", t, most);
    }
}
