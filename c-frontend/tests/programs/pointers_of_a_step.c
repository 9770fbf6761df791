/* Local pointers that stand for what they point to, and that a step names again behind its loops: they stay before what runs in tiles,
 * also where steps run together. */
#include <stdio.h>
enum { N = 300, STEPS = 43 };
static double u[N], v[N];
static double total;

static void every_step(void)
{
    for (int t = 0; t < STEPS; t++) {
        double factor = 0.1 * (t % 3);
        double *last = &factor, *old = u;
        for (int i = 1; i < N - 1; i++) v[i] = u[i] + factor * (old[i - 1] - 2 * u[i] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
        total += *last + old[N / 2];
    }
}

static void every_fourth(void)
{
    for (int t = 0; t < STEPS; t++) {
        double *middle = &u[N / 2];
        for (int i = 1; i < N - 1; i++) v[i] = u[i] + 0.3 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
        if (t % 4 == 0) printf("%.17g\n", *middle);
    }
}

static double largest(double *low, double *high)
{
    double most = *low;
    for (double *at = low; at < high; at++) most = *at > most ? *at : most;
    return most;
}

static void begins_with_two(void)
{
    for (int t = 0; t < STEPS; t++) {
        double *first = u + 1, *behind = u + N - 1;
        double weight = 0.5;
        for (int i = 1; i < N - 1; i++) v[i] = weight * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
        printf("%.17g %g\n", largest(first, behind), weight);
    }
}

/* Bounds of which nothing is known: the program asks whether there are points between them. */
static void between(int low, int high)
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = low; i < high; i++) v[i] = 0.5 * (u[i - 1] + u[i + 1]);
        for (int i = low; i < high; i++) u[i] = v[i];
    }
}

int main(void)
{
    for (int i = 0; i < N; i++) u[i] = v[i] = i * 37 % 101 / 7.0;
    every_step();
    every_fourth();
    begins_with_two();
    between(3, N - 5);
    between(7, 9);
    between(9, 7);
    for (int i = 0; i < N; i++) printf("%.17g\n", u[i]);
    printf("%.17g\n", total);
    return 0;
}
