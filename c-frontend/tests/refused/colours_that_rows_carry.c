/* Where each row begins is what the row before left. */
#include <stdio.h>
#define N 40
static double u[N][N];

int main(void)
{
    for (int j = 0; j < N; j++) u[0][j] = j;
    for (int step = 0; step < 50; step++)
        for (int colour = 0; colour < 2; colour++) {
            int begin = 1 + colour;
            for (int i = 1; i < N - 1; i++) {
                for (int j = begin; j < N - 1; j += 2)
                    u[i][j] += 0.3 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
                begin = 3 - begin;
            }
        }
    printf("%f\n", u[N / 2][N / 2]);
    return 0;
}
