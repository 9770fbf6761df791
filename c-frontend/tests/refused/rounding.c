#include <fenv.h>
double u[2][40];
void f(void)
{
    fesetround(FE_UPWARD);
#pragma scop
    for (int t = 0; t < 9; t++)
        for (int i = 1; i < 39; i++)
            u[(t + 1) % 2][i] = 0.5 * u[t % 2][i];
#pragma endscop
}
