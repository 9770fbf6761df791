#include <stdio.h>
double u[200], v[200];
static double next(double left, double right)
{
    if (left != left)
        printf("no number\n");
    return 0.5 * (left + right);
}
static void step(double *to, const double *from, int n)
{
    for (int i = 1; i < n - 1; i++)
        to[i] = next(from[i - 1], from[i + 1]);
}
int main(void)
{
    for (int t = 0; t < 9; t++) {
        step(v, u, 200);
        for (int i = 0; i < 200; i++)
            u[i] = v[i];
    }
    return u[7] > 0;
}
