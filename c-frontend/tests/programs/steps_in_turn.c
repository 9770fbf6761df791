/* Each step ends with a sum in the order of the points, which is printed: steps run one at a time, in tiles or as they are written,
 * whichever are faster. */
#include <stdio.h>

#define N 70
#define STEPS 90

static double u[N][N], v[N][N];

int main(void)
{
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) u[i][j] = v[i][j] = (i * 37 + j * 11) % 17;
    }
    for (int t = 0; t < STEPS; ++t) {
        double change = 0;
        for (int i = 1; i < N - 1; ++i) {
            for (int j = 1; j < N - 1; ++j) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                change += (v[i][j] - u[i][j]) * (v[i][j] - u[i][j]);
            }
        }
        for (int i = 1; i < N - 1; ++i) {
            for (int j = 1; j < N - 1; ++j) u[i][j] = v[i][j];
        }
        printf("%d %.17g\n", t, change);
    }
    printf("%.17g\n", u[N / 2][N / 3]);
    return 0;
}
