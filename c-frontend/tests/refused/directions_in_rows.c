#define N 4096
double f[9 * N], g[9 * N];
void run(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < N - 1; i++) {
            double sum = 0;
            for (int k = 0; k < 9; k++)
                sum += f[i * 9 + k];
            for (int k = 0; k < 9; k++)
                g[i * 9 + k] = f[i * 9 + k] + sum * (k + 1);
        }
        for (int i = 1; i < N - 1; i++)
            for (int k = 0; k < 9; k++)
                f[i * 9 + k] = g[i * 9 + k];
    }
}
