#include <stdio.h>
#define N 50

int main(void)
{
    double half = 0, sum = 0, a[2][N] = {{1}};
    for (int trial = 0; trial < 3; trial++) {
        sum += half;
        for (int t = 0; t < 20; t++)
            for (int i = 1; i < N - 1; i++) {
                half = 0.5 * (a[t % 2][i - 1] + a[t % 2][i + 1]);
                a[(t + 1) % 2][i] = half;
            }
    }
    printf("%f %f\n", sum, a[0][3]);
    return 0;
}
