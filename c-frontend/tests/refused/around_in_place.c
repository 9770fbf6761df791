#define N 50
double v[N];
void f(int steps)
{
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < N; i++)
            v[i] = 0.5 * (v[i] + v[(i + 1) % N]);
}
