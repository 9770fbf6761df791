#include <stdio.h>
#include <stdlib.h>
#define N 50

int main(void)
{
    double *u = calloc(N, sizeof(double)), *v = calloc(N, sizeof(double)), *swap;
    for (int t = 0; t < 20; t++) {
        for (int i = 1; i < N - 1; i++)
            if (u[i] > 0) {
                if (u[i] > 1)
                    v[i] = u[i + 3];
                else
                    v[i] = 1;
            } else
                v[i] = u[i + 3];
        swap = u;
        u = v;
        v = swap;
    }
    printf("%f\n", u[3]);
    return 0;
}
