// Steps that run one at a time beside small arrays: of those of a point tiles know the elements, of those of the step they do not,
// and such a loop stays as it is written.
#include <stdio.h>
#define N 40

double u[N][N], v[N][N];

static void show(int step)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += u[i][j] * (i + 0.1 * j);
    printf("%d %a %a\n", step, sum, u[7][9]);
}

int main(void)
{
    int step;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) u[i][j] = v[i][j] = (i * 7 + j * 3) % 11;
    for (step = 0; step < 9;) {
        double row[3] = {0.25, 0.5, step * 0.1};
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) v[i][j] = row[0] * (u[i - 1][j] + u[i + 1][j]) + row[2] * u[i][j - 1];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
        if (++step > 7) break;
    }
    show(step);
    for (step = 0; step < 9;) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                double row[3] = {0.25, 0.5, 0.1};
                v[i][j] = row[0] * (u[i - 1][j] + u[i + 1][j]) + row[2] * u[i][j - 1];
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
        if (++step > 7) break;
    }
    show(step);
    return 0;
}
