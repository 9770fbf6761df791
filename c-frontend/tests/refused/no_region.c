#include <stdio.h>
#define N 100
double a[N][N];
int main(void)
{
    // No loop repeats what the others do.
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i * j;
    for (int i = 0; i < N; i++)
        printf("%g\n", a[i][i]);
    return 0;
}
