// Jacobi's method for a dense system: each unknown is computed from a whole row of the matrix and all others.
#define N 200
static double a[N][N], b[N], x[N], next[N];

int main(void)
{
    for (int round = 0; round < 9; round++) {
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                if (i != j) sum += a[i][j] * x[j];
            next[i] = (b[i] - sum) / a[i][i];
        }
        for (int i = 0; i < N; i++) x[i] = next[i];
    }
    return 0;
}
