int at;
void f(int n, int m, double *u, double *next, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                next[i * m + j] = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) {
                at = i * m + (j + 1) % m;
                next[at] += 0.5 * u[i * m + j];
                at = ((i + 1) % n) * m + j;
                next[at] += 0.5 * u[i * m + j];
            }
        double *s = u;
        u = next;
        next = s;
    }
}
int last(void) { return at; }
