/* The size of a parameter that is declared as an array is that of a pointer. */
#include <string.h>
#define N 300

static double u[N];

static void step(double a[N]) {
    double old[N];
    for (int i = 0; i < N; i++) old[i] = 0.25;
    memcpy(old, a, sizeof(a));
    for (int i = 1; i < N - 1; i++) a[i] = 0.5 * (old[i - 1] + old[i + 1]);
}

int main(void) {
    for (int t = 0; t < 20; t++) step(u);
    return u[5] > 0;
}
