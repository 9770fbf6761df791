/* `fmaxf` rounds what it is given: 0.7 becomes less than 0.7, where the loop ends. */
#include <math.h>
#include <stdio.h>
#define N 200
static double a[N], b[N];

int main(void)
{
    double most;
    int k = 0;
    for (int i = 0; i < N; i++) a[i] = 0.7;
    do {
        most = 0;
        for (int i = 1; i < N - 1; i++) {
            b[i] = 0.5 * (a[i - 1] + a[i + 1]);
            most = fmaxf(most, a[i]);
        }
        for (int i = 1; i < N - 1; i++) a[i] = b[i];
        k++;
    } while (most >= 0.7 && k < 30);
    printf("%d %a\n", k, most);
    return 0;
}
