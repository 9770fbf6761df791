double u[2][40];
void f(unsigned n)
{
#pragma scop
    for (int t = 0; t < 9; t++)
        for (int i = -1; i < n; i++)
            u[(t + 1) % 2][i + 1] = 0.5 * u[t % 2][i + 1];
#pragma endscop
}
