#include <stdio.h>
enum { N = 300 };
double u[N], v[N];

void run(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < N - 1; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1]);
        double *middle = &u[N / 2];
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
        printf("%g\n", *middle);
    }
}
