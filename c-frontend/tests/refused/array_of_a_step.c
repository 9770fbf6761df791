/* The array of each step is used behind its loops. */
#include <stdio.h>
#include <stdlib.h>
#define N 60

static double u[N][N];

int main(void) {
    for (int t = 0; t < 20; t++) {
        double *next = malloc(N * N * sizeof(double));
        for (int i = 0; i < N * N; i++) next[i] = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                next[i * N + j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) u[i][j] = next[i * N + j] + 0.5;
        free(next);
        if (t == 10) printf("%.17g\n", u[5][5]);
    }
    printf("%.17g\n", u[7][7]);
    return 0;
}
