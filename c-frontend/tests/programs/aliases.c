/* Values that lie in the arrays that are computed: the loop runs as it was written, and elsewhere in tiles. */
#include <stdio.h>
#define N 24
struct control { int n; double factor; };
static double grid[2][N][N];

static void step(double (*u)[N], double (*v)[N], const double *factor, const double *source, const double *weight,
                 const struct control *control, int steps)
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < control->n - 1; i++)
            for (int j = 1; j < control->n - 1; j++)
                v[i][j] = *factor * (u[i - 1][j] + u[i + 1][j]) + 0.25 * weight[j] * u[i][j + 1] + source[t];
        for (int i = 1; i < control->n - 1; i++)
            for (int j = 1; j < control->n - 1; j++) u[i][j] = v[i][j];
    }
#pragma endscop
}

int main(void)
{
    double (*u)[N] = grid[0], (*v)[N] = grid[1], other[N];
    const struct control whole = { N, 0 }, part = { N / 2, 0 };
    for (int i = 0; i < 2 * N * N; i++) (&grid[0][0][0])[i] = (double)(i * 7 % 31) / 64;
    for (int i = 0; i < N; i++) other[i] = 0.25 + i / 256.0;
    step(u, v, other, other, other, &whole, 5);
    step(u, v, &u[5][5], other, other, &whole, 5);   /* the factor is computed */
    step(u, v, other, v[3], other, &whole, 5);       /* what is added is computed */
    step(u, v, other, other, u[7], &whole, 5);       /* the weights are computed */
    step(u, u + 1, other, other, other, &whole, 5);  /* the arrays overlap */
    step(u, u + N / 2, &u[0][0], u[N - 1], v[N - 1], &part, 5); /* halves of one array, and rows beside them */
    for (int i = 0; i < 2 * N * N; i++) printf("%a\n", (&grid[0][0][0])[i]);
    return 0;
}
