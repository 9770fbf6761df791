/* Heat, which ends when the root of a sum of squares is small. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define N 3000
static double u[N][N], v[N][N];
int main(int argc, char **argv) {
    double k = argc > 1 ? atof(argv[1]) : 0.2, tol = argc > 2 ? atof(argv[2]) : 1e-3;
    int it = 0; double s = 1.0;
    for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) { u[i][j] = (i * 7 + j * 3) % 11; v[i][j] = u[i][j]; }
    while (sqrt(s) > tol && it < 120) {
        s = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                v[i][j] = u[i][j] + k * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                double d = v[i][j] - u[i][j];
                s += d * d;
                u[i][j] = v[i][j];
            }
        it++;
    }
    double sum = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) sum += u[i][j] * (i + 2 * j + 1);
    printf("%d %.17g %.17g\n", it, s, sum);
    return 0;
}
