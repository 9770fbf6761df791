/* `(void)` says that a value is not wanted: what computes it happens all the same, as does what a variable's end and the size of a type
 * bring about. */
#include <stdio.h>
enum { N = 300, STEPS = 43 };
static double u[N], v[N], w[2][N];
static struct { int rounds; } state;
static int calls;

static int called(void)
{
    return ++calls;
}

static void printed(double c)
{
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++) w[(t + 1) % 2][i] = c * (w[t % 2][i - 1] + w[t % 2][i + 1]);
        (void)printf("%d\n", t);
    }
}

static void counted(int rounds)
{
    for (int t = 0; t < STEPS; t++) {
        (void)rounds++;
        for (int i = 1; i < N - 1; i++) v[i] = 0.01 * rounds * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
    (void)printf("%d\n", rounds);
}

static void pushed(void)
{
    for (int t = 0; t < STEPS; t++) {
        (void)(u[3] = 5);
        for (int i = 1; i < N - 1; i++) v[i] = 0.4 * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
}

static double factor = 0.5;

static void weaker(int *round)
{
    factor *= 0.99 + *round * 0.0001;
}

static void cleaned(void)
{
    for (int t = 0; t < STEPS; t++) {
        __attribute__((cleanup(weaker))) int round = t;
        for (int i = 1; i < N - 1; i++) v[i] = factor * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
}

static void sized(void)
{
    int length = 3;
    for (int t = 0; t < STEPS; t++) {
        (void)sizeof(char[length++]);
        for (int i = 1; i < N - 1; i++) v[i] = 0.01 * length * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
}

static void beside(void)
{
    for (int t = 0; t < STEPS; t++) {
        (void)state.rounds++;
        for (int i = 1; i < N - 1; i++) v[i] = 0.3 * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
    for (int t = 0; t < STEPS; t++) {
        (void)called(), (void)(t > 7 && called());
        for (int i = 1; i < N - 1; i++) v[i] = 0.3 * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < N - 1; i++) u[i] = v[i];
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < N; i++) u[i] = w[0][i] = w[1][i] = i * 31 % 17;
    printed(0.4 + 0.001 * argc);
    counted(argc);
    pushed();
    beside();
    cleaned();
    sized();
    double sum = 0;
    for (int i = 0; i < N; i++) sum += u[i] * (i % 7) + w[0][i];
    (void)printf("%d %d %a\n", state.rounds, calls, sum);
    return 0;
}
