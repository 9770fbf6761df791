enum { N = 300 };
double u[N][N], v[N * N];

void run(int steps)
{
    for (int t = 0; t < steps; t++) {
        int k = 0;
        for (int i = 1; i < N - 1; i++) {
            for (int j = 1; j < N - 1; j++) {
                v[k] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                k++;
            }
        }
        for (int i = 1; i < N - 1; i++) for (int j = 1; j < N - 1; j++) u[i][j] = v[(i - 1) * (N - 2) + j - 1];
    }
}
