#define STEPS(n) count += (n); for (int t = 0; t < (n); t++)
double u[2][40];
int count;
void f(void)
{
#pragma scop
    STEPS(9)
        for (int i = 1; i < 39; i++)
            u[(t + 1) % 2][i] = 0.5 * u[t % 2][i];
#pragma endscop
}
