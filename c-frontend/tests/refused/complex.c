#include <complex.h>
double u[2][40];
void f(void)
{
#pragma scop
    for (int t = 0; t < 9; t++)
        for (int i = 1; i < 39; i++)
            u[(t + 1) % 2][i] = creal(I * I) * u[t % 2][i];
#pragma endscop
}
