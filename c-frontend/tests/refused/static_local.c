struct kept { double damping; } kept = { 0.5 };
double u[2][40];
void f(void)
{
#pragma scop
    for (int t = 0; t < 9; t++) {
        static double damping = 0.5;
        for (int i = 1; i < 39; i++)
            u[(t + 1) % 2][i] = (damping + kept.damping) * u[t % 2][i];
    }
#pragma endscop
}
