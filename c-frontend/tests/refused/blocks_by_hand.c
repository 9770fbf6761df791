#include <stdio.h>
#define N 1000
static double u[2][N + 2];

int main(void)
{
    u[0][N / 2] = 1;
    for (int t = 0; t < 100; t++)
        for (int block = 0; block < N; block += 100)
            for (int i = block + 1; i <= block + 100; i++)
                u[(t + 1) % 2][i] = 0.25 * u[t % 2][i - 1] + 0.5 * u[t % 2][i] + 0.25 * u[t % 2][i + 1];
    printf("%f\n", u[0][N / 2]);
    return 0;
}
