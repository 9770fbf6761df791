double u[2][100], table[2];
int f(int n, int steps, int now)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            u[1 - now][i] = u[now][i - 1] * table[now];
        now = !now;
    }
#pragma endscop

    return 0;
}
