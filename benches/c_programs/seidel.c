/* Sweeps in place over nine points. */
#include <stdio.h>
#define N 2000
#ifndef STEPS
#define STEPS 100
#endif
static double A[N][N];
int main(void) {
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) A[i][j] = ((double)i * (j + 2) + 2) / N;
    for (int t = 0; t < STEPS; t++) for (int i = 1; i <= N - 2; i++) for (int j = 1; j <= N - 2; j++)
        A[i][j] = (A[i-1][j-1] + A[i-1][j] + A[i-1][j+1] + A[i][j-1] + A[i][j] + A[i][j+1] + A[i+1][j-1] + A[i+1][j] + A[i+1][j+1]) / 9.0;
    double s = 0; for (int i = 0; i < N; i += 3) for (int j = 0; j < N; j += 5) s += A[i][j]; printf("%.17g\n", s); return 0;
}
