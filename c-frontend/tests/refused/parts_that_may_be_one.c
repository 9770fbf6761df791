double u[3][100];
void run(int a, int b, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 99; i++)
            u[a][i] = (u[2][i - 1] + u[2][i + 1]) / 2;
        for (int i = 1; i < 99; i++)
            u[b][i] = u[a][i] / 2;
    }
}
