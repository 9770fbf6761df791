/* Steps and points that macros write: several statements at one place of the file, of which one keeps a maximum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 100 };
static double a[N], b[N], c[N];
#define LARGER(m, d) if ((d) > (m)) (m) = (d);
#define POINT                                          \
    b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]; \
    c[i] = a[i + 1] - a[i - 1];                        \
    change = fmax(change, fabs(b[i] - a[i]));
#define SWEEP                          \
    for (int i = 1; i < N - 1; i++) {  \
        POINT                          \
    }                                  \
    for (int i = 1; i < N - 1; i++) a[i] += 0.5 * (b[i] - a[i]);

static void start(void)
{
    for (int i = 0; i < N; i++) a[i] = b[i] = c[i] = (i * 7) % 5 * 0.25;
}

static void show(int steps, double change)
{
    printf("%d %a\n", steps, change);
    for (int i = 0; i < N; i++) printf("%a %a %a\n", a[i], b[i], c[i]);
}

int main(void)
{
    double change = 1;
    int steps = 0;
    start();
    while (change > 1e-2 && steps < 1000) {
        change = 0;
        for (int i = 1; i < N - 1; i++) {
            POINT
        }
        for (int i = 1; i < N - 1; i++) a[i] += 0.5 * (b[i] - a[i]);
        steps++;
    }
    show(steps, change);

    start();
    change = 1;
    steps = 0;
    while (change > 1e-2 && steps < 1000) {
        change = 0;
        SWEEP
        steps++;
    }
    show(steps, change);

    double most;
    start();
    steps = 0;
    do {
        change = most = 0;
        for (int i = 1; i < N - 1; i++) {
            POINT
            LARGER(most, fabs(c[i]))
        }
        for (int i = 1; i < N - 1; i++) a[i] += 0.5 * (b[i] - a[i]);
        steps++;
    } while (change > 1e-2 && most > 1e-2 && steps < 1000);
    show(steps, most);
    return 0;
}
