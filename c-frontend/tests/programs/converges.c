/* A maximum that is tested in every step ends the loop. */
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#ifndef REAL
#define REAL double
#endif
#ifndef EPS
#define EPS 1e-3
#endif
#define N 30
#define M 41
static REAL A[N][M], Anew[N][M];
int main(void)
{
    const double tol = EPS;
    const int iter_max = 300;
    REAL error = 1.0;
    int iter = 0;
    for (int j = 0; j < N; j++) A[j][0] = Anew[j][0] = 1.0;
#pragma scop
    while (error > tol && iter < iter_max) {
        error = 0.0;
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < M - 1; i++) {
                Anew[j][i] = 0.25 * (A[j][i + 1] + A[j][i - 1] + A[j - 1][i] + A[j + 1][i]);
                error = fmax(error, fabs(Anew[j][i] - A[j][i]));
            }
        for (int j = 1; j < N - 1; j++)
            for (int i = 1; i < M - 1; i++)
                A[j][i] = Anew[j][i];
        if (iter % 100 == 0) printf("%5d, %0.6f %a\n", iter, error, A[5][5]);
        iter++;
    }
#pragma endscop
    printf("%d %a\n", iter, error);
    for (int j = 0; j < N; j++) printf("%a\n", A[j][7]);
    return 0;
}
