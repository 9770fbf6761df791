#define N 100
double a[2][N];
void f(int n, int steps)
{
#pragma scop
    struct weights { double c; };
    double c = 0.25;
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            a[(t + 1) % 2][i] = c * (a[t % 2][i - 1] + a[t % 2][i + 1]);
#pragma endscop
}
