/* Nine points in two colours: corners have the colour of the centre. */
enum { N = 100 };
double a[N][N];

int main(void)
{
    for (int t = 0; t < 10; t++)
        for (int colour = 0; colour < 2; colour++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2)
                    a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]
                               + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
    return 0;
}
