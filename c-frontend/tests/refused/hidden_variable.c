#define N 100
double a[2][N];
int f(int n, int steps)
{
    double c = 0.25;
#pragma scop
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[(t + 1) % 2][i] = c * (a[t % 2][i - 1] + a[t % 2][i + 1]);
    {
        double c = a[0][1];
        a[1][0] = c;
    }
#pragma endscop
    return c > 0;
}
