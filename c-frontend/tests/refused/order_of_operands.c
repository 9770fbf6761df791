/* Two sweeps as arguments: gcc does the last one first, clang the first one. A point that a sweep changes, read beside it. */
double u[50][50];
static double sweep(int colour)
{
    for (int i = 1; i < 49; i++)
        for (int j = 1; j < 49; j++)
            if ((i + j) % 2 == colour) u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    return 0.5;
}
static double larger(double a, double b)
{
    return a > b ? a : b;
}
void two_sweeps(int steps)
{
    for (int t = 0; t < steps; t++) {
        double most = larger(sweep(0), sweep(1));
        (void)most;
    }
}
void a_point_beside(int steps)
{
    for (int t = 0; t < steps; t++) {
        double point = u[5][5] + sweep(t % 2);
        (void)point;
    }
}
void added_to(int steps)
{
    for (int t = 0; t < steps; t++) u[3][3] += sweep(0);
}
