double u[50][60], v[50][60];
void sweep(int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < 50; i++)
            for (int j = 0; j < 60; j++)
                v[i][j] = u[i][j];
        for (int i = 1; i < 50; i++)
            for (int j = 1; j < 60; j++) {
                u[i][j] = (v[i - 1][j] + v[i][j - 1]) / 2;
                u[0][j] = 1;
                u[i][0] = 2;
                u[49][j] = v[i][j];
            }
    }
}
