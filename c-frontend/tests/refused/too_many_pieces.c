#define N 100
double a[2][N][N];
int main(void)
{
#pragma scop
    for (int t = 0; t < 9; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double x = 0;
                for (int k = -2; k <= 2; k++)
                    for (int l = -2; l <= 2; l++)
                        if (i + k >= 0 && i + k < N && j + l >= 0 && j + l < N) x += a[t % 2][i + k][j + l];
                a[(t + 1) % 2][i][j] = (i > 7 ? x : 2 * x) + (i > 8 ? 1 : 0) + (i > 9 ? 1 : 0) + (i > 10 ? 1 : 0) + (j > 7 ? 1 : 0)
                                       + (j > 8 ? 1 : 0) + (j > 9 ? 1 : 0) + (j > 10 ? 1 : 0);
            }
#pragma endscop
    return 0;
}
