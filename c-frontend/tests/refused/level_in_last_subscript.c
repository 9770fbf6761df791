double u[100][50];
void run(int n)
{
    for (int k = 0; k < 49; k++)
        for (int i = 1; i < n - 1; i++)
            u[i][k + 1] = (u[i - 1][k] + u[i + 1][k]) / 2;
}
