static int v[40];

void relax(int *u, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            v[i] = u[i > 0 ? i - 1 : 0] + u[i];
        for (int i = 0; i < n; i++)
            u[i] = v[i];
        for (int i = 0; i < n; i++)
            v[i] += u[i];
    }
}
