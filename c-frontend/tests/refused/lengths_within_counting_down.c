#include <stdio.h>
/* Which of the two loops leaves its end in `q` follows from the last round, that of the first points. */
static double u[100], v[100];
int main(void)
{
    int q = 8;
    for (int t = 0; t < 17; t++) {
        for (int i = 98; i > 0; i--) {
            double sum = 0;
            if (i > 10) {
                for (q = 0; q < 4; q++) sum += q;
            } else {
                for (q = 0; q < 2; q++) sum += q;
            }
            v[i] = 0.5 * (u[i - 1] + u[i + 1]) + 0.125 * sum;
        }
        for (int i = 1; i < 99; i++) u[i] = v[i];
    }
    printf("%d %g\n", q, u[50]);
    return 0;
}
