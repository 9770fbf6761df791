#define N 50
double u[2][N];
void f(int steps)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < N; i++)
            u[(t + 1) % 2][(i + 1) % N] = u[t % 2][i];
}
