#include <stdio.h>
double u[100], v[100];
void relax(int steps)
{
    double change;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 99; i++) {
            change = (u[i - 1] + u[i + 1]) / 2 - u[i];
            u[i] = u[i] + change;
        }
        printf("%g %g\n", change, u[50]);
    }
}
