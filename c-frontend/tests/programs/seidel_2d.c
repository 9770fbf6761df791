/* seidel-2d of PolyBench 4.2: nine points in place, each update reading the new values before it. */
#include <stdio.h>
#ifndef DATA
#define DATA double
#endif
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 20
#endif
static DATA A[N][N];

static void kernel_seidel_2d(int tsteps, int n, DATA A[N][N])
{
    int t, i, j;
#pragma scop
    for (t = 0; t <= tsteps - 1; t++)
        for (i = 1; i <= n - 2; i++)
            for (j = 1; j <= n - 2; j++)
                A[i][j] = (A[i-1][j-1] + A[i-1][j] + A[i-1][j+1]
                           + A[i][j-1] + A[i][j] + A[i][j+1]
                           + A[i+1][j-1] + A[i+1][j] + A[i+1][j+1])/(DATA)9.0;
#pragma endscop
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i][j] = ((DATA)i * (j + 2) + 2) / N;
    kernel_seidel_2d(STEPS, N, A);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) printf("%a\n", (double)A[i][j]);
    return 0;
}
