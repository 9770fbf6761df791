/* Scalars that steps assign are read through pointers: where they are, each loop runs as it was written. */
#include <math.h>
#include <stdio.h>
#define N 20
static double u[N][N], v[N][N];

static void start(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) u[i][j] = v[i][j] = (i * 7 + j * 13) % 17 / 16.0;
}

static double total(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum = 0.99 * sum + u[i][j];
    return sum;
}

static void sweep(double by)
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) v[i][j] = by * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static void copy(void)
{
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
}

/* `seen`: the error itself, or another number. */
static int until_small(int own)
{
    double error = 1, other = 1, *seen = own ? &error : &other;
    int k = 0;
    while (*seen > 0.02 && k < 60) {
        error = 0;
        sweep(0.25);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) error = fmax(error, fabs(v[i][j] - u[i][j]));
        copy();
        k++;
    }
    return k;
}

static int while_some_change(void)
{
    int changes = 1, *seen = &changes, k = 0;
    while (*seen && k < 60) {
        changes = 0;
        sweep(0.25);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                if (fabs(v[i][j] - u[i][j]) > 0.01) changes = 1;
        copy();
        k++;
    }
    return k;
}

static int counted(void)
{
    int k = 0, *seen = &k;
    while (*seen < 9) {
        sweep(0.25);
        copy();
        k++;
    }
    return k;
}

static void weighed(void)
{
    int t, i, j, *step = &t, *row = &i;
    for (t = 0; t < 7; t++) {
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++) v[i][j] = 0.02 * *step * u[i - 1][j] + 0.01 * *row * u[i][j + 1];
        copy();
    }
}

static void weighed_by_rows(void)
{
    int i, j, *row = &i;
    for (int t = 0; t < 7; t++) {
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++) v[i][j] = 0.5 * u[i - 1][j] + 0.01 * *row * u[i][j + 1];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
    }
}

int main(void)
{
    start();
    const int first = until_small(0);
    printf("%d %a\n", first, total());
    start();
    const int second = until_small(1);
    printf("%d %a\n", second, total());
    start();
    const int third = while_some_change();
    printf("%d %a\n", third, total());
    start();
    const int fourth = counted();
    printf("%d %a\n", fourth, total());
    start();
    weighed();
    weighed_by_rows();
    printf("%a\n", total());
    return 0;
}
