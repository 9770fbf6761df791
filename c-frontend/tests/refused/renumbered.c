double u[2][40];
#line 10 "made_from.y"
void f(void)
{
#pragma scop
    for (int t = 0; t < 9; t++)
        for (int i = 1; i < 39; i++)
            u[(t + 1) % 2][i] = 0.5 * u[t % 2][i];
#pragma endscop
}
