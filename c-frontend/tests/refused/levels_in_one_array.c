void run(double *h, int nx, int nt)
{
    for (int it = 0; it < nt; it++)
        for (int i = 1; i < nx; i++)
            h[i + (it + 1) * nx] = h[i + it * nx] - 0.5 * (h[i + it * nx] - h[i - 1 + it * nx]);
}
