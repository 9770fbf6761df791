#include <math.h>
#include <stdio.h>
#ifndef N
#define N 40
#endif
#ifndef STEPS
#define STEPS 300
#endif
#ifndef TOL
#define TOL 1e-3
#endif
#ifndef W
#define W 1.0
#endif

static double t[N][N + 3];

/* The change of a round, by comparisons; the loop is left. */
static int left(double tolerance)
{
    double most;
    int round;
    for (round = 0; round < STEPS; round++) {
        most = 0.0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1 + (i % 2); j < N + 2; j += 2) {
                double own = (1 - W) * t[i][j] + W * 0.25 * (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]);
                double old = t[i][j];
 t[i][j] = own;
 double change = fabs(t[i][j] - old);
 if (change > most) most = change;
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1 + ((i + 1) % 2); j < N + 2; j += 2) {
                double own = (1 - W) * t[i][j] + W * 0.25 * (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]);
                double old = t[i][j];
 t[i][j] = own;
 double change = fabs(t[i][j] - old);
 if (change > most) most = change;
            }
        if (most < tolerance) {
            printf("left after %d rounds, %.17g\n", round, most);
            break;
        }
    }
    printf("%.17g\n", most);
    return round;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N + 3; j++) t[i][j] = (i * 7 + j * 3) % 11;
    printf("%d\n", left(TOL));
    printf("%.17g\n", t[N / 2][N / 3]);
    return 0;
}
