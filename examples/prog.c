/* Heat on a plate, as a program of one's own: the loop between the two pragmas is what Tilewright tiles. */
#include <stdio.h>
#include <stdlib.h>
#include "weights.h"

#ifndef N
#define N 500
#endif
#ifndef STEPS
#define STEPS 50
#endif

static double A[2][N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[0][i][j] = A[1][i][j] = (i * 31 + j * 17) % 100 / 100.0;

#pragma scop
    for (int t = 0; t < STEPS; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                A[(t + 1) % 2][i][j] = CENTRE * A[t % 2][i][j]
                    + SIDE * (A[t % 2][i - 1][j] + A[t % 2][i + 1][j] + A[t % 2][i][j - 1] + A[t % 2][i][j + 1]);
#pragma endscop

    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += A[STEPS % 2][i][j];
    printf("mean temperature %.12f\n", sum / N / N);
    return 0;
}
