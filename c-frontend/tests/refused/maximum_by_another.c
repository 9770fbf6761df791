#include <math.h>
#include <stdio.h>
double u[40][50];
int main(void)
{
    double most = 1e-10, worst, before, change;
    do {
        worst = 0;
        for (int i = 1; i < 39; i++)
            for (int j = 1; j < 49; j++) {
                before = u[i][j];
                u[i][j] = 0.25 * (1 + u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1]);
                if (most < fabs(u[i][j]))
                    most = fabs(u[i][j]);
                change = fabs(u[i][j] - before) / most;
                if (worst < change)
                    worst = change;
            }
    } while (worst > 1e-6);
    printf("%a\n", u[3][4]);
    return 0;
}
