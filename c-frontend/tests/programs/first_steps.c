/* Waves whose first step is another one than those behind it, with what all of them do behind it. */
#include <stdio.h>
#include <string.h>

enum { N = 61, M = 27 };
static double u[N], before[N], next[N];
static double a[N][M], b[N][M], c[N][M];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        u[i] = i * 7 % 11;
        before[i] = next[i] = 0;
        for (int j = 0; j < M; j++) {
            a[i][j] = (i * 5 + j * 3) % 13;
            b[i][j] = c[i][j] = 0;
        }
    }
}

static void show(const char *what)
{
    printf("%s\n", what);
    for (int i = 0; i < N; i++) {
        printf("%a %a %a\n", u[i], before[i], next[i]);
        for (int j = 0; j < M; j++) printf("%a %a %a\n", a[i][j], b[i][j], c[i][j]);
    }
}

static void by_number(int steps)
{
    for (int n = 0; n < steps; n++) {
        if (n == 0) {
            for (int i = 1; i < N - 1; i++) next[i] = u[i] + 0.3 * (u[i + 1] - 2 * u[i] + u[i - 1]);
        } else {
            for (int i = 1; i < N - 1; i++) next[i] = 2 * u[i] - before[i] + 0.6 * (u[i + 1] - 2 * u[i] + u[i - 1]);
        }
        next[0] = next[N - 1] = 0;
        for (int i = 0; i < N; i++) {
            before[i] = u[i];
            u[i] = next[i];
        }
    }
    show("by number");
}

static void by_flag(int steps)
{
    int first = 1;
    for (int n = 1; n <= steps; n++) {
        if (first) {
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < M - 1; j++) c[i][j] = a[i][j] + 0.1 * (a[i - 1][j] + a[i][j + 1] - 2 * a[i][j]);
        } else {
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < M - 1; j++)
                    c[i][j] = 2 * a[i][j] - b[i][j] + 0.2 * (a[i - 1][j] + a[i][j + 1] - 2 * a[i][j]);
        }
        first = 0;
        memcpy(b, a, sizeof a);
        memcpy(a, c, sizeof a);
    }
    show("by flag");
}

/* What is asked is what the steps compute. */
static void by_value(int steps)
{
    for (int n = 0; n < steps; n++) {
        if (u[N / 2] > 3) {
            for (int i = 1; i < N - 1; i++) next[i] = u[i] + 0.3 * (u[i + 1] - 2 * u[i] + u[i - 1]);
        } else {
            for (int i = 1; i < N - 1; i++) next[i] = 0.5 * (u[i + 1] + u[i - 1]);
        }
        for (int i = 0; i < N; i++) u[i] = next[i];
    }
    show("by value");
}

int main(void)
{
    for (int steps = 0; steps < 20; steps += 1 + 3 * steps) {
        fill();
        by_number(steps);
        by_flag(steps);
        by_value(steps);
    }
    return 0;
}
