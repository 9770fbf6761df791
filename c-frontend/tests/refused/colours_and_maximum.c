#include <math.h>
#include <stdio.h>
#define N 40
static double t[N][N];

int main(void)
{
    for (int i = 0; i < N; i++) t[i][N - 1] = 40;
    for (int iter = 0; iter < 200; iter++) {
        double most = 0.0;
        for (int colour = 0; colour < 2; colour++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2) {
                    double own = (colour ? 0.25 : 0.2) * (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]);
                    double change = fabs(own - t[i][j]);
                    if (change > most) most = change;
                    t[i][j] = own;
                }
        if (most < 1e-3) break;
    }
    printf("%f\n", t[N / 2][N / 2]);
    return 0;
}
