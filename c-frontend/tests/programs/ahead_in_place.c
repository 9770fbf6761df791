/* An array in place that reads what the same sweep writes later: two levels at a time, of which the program has one. */
#include <stdio.h>
#ifndef STEPS
#define STEPS 5
#endif
enum { N = 40 };
static double a[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = (i * 7 + j * 3) % 11;
#pragma scop
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < N - 1; i++)
            for (int j = 0; j < N - 1; j++) a[i][j] = 0.5 * (a[i][j] + a[i + 1][j + 1]);
#pragma endscop
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) printf("%a\n", a[i][j]);
    return 0;
}
