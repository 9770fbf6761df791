#include <complex.h>
void run(double complex *a, double complex *b, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = a[i] + 0.1 * I * (a[i - 1] - 2 * a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++)
            a[i] = b[i];
    }
}
