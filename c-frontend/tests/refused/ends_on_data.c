#include <stdio.h>
#include <stdlib.h>
double u[100], v[100];
static double root(double x)
{
    if (x < 0) {
        printf("no root\n");
        exit(1);
    }
    return x / 2;
}
void run(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 99; i++)
            v[i] = root(u[i - 1] + u[i + 1]);
        for (int i = 1; i < 99; i++)
            u[i] = v[i];
    }
}
