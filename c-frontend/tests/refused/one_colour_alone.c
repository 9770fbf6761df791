/* The points of one colour, and then something else. */
enum { N = 100 };
double a[N][N], b[N][N];

int main(void)
{
    for (int t = 0; t < 10; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1 + i % 2; j < N - 1; j += 2)
                a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) b[i][j] = b[i][j] + a[i][j];
    }
    return 0;
}
