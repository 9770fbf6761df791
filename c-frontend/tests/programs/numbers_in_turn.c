/* Numbers of buffers and pointers that take turns in all the ways in which people write it: each of the loops runs in tiles, those
 * whose numbers begin in a state of their own (-DSAME) as they are written. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 26, M = 31 };
static double u[2][N][M], w[3][N * M];

static void fill(void)
{
    for (int k = 0; k < 3 * N * M; k++) {
        w[k / (N * M)][k % (N * M)] = k * 29 % 71 / 16.;
        if (k < 2 * N * M) u[k / (N * M)][k / M % N][k % M] = k * 13 % 59 / 8.;
    }
}

static void show(const char *what, int a, int b)
{
    printf("%s %d %d\n", what, a, b);
    for (int k = 0; k < 3 * N * M; k++)
        printf("%a %a\n", w[k / (N * M)][k % (N * M)], k < 2 * N * M ? u[k / (N * M)][k / M % N][k % M] : 0);
}

#define SWEEP(to, from) \
    for (int i = 1; i < N - 1; i++) \
        for (int j = 1; j < M - 1; j++) \
            (to)[i][j] = 0.25 * ((from)[i - 1][j] + (from)[i + 1][j] + (from)[i][j - 1] + (from)[i][j + 1]) + 0.01 * (to)[i][j]

#define WAVE(to, now, old) \
    for (int i = 1; i < N - 1; i++) \
        for (int j = 1; j < M - 1; j++) \
            (to)[i * M + j] = 1.5 * (now)[i * M + j] - 0.5 * (old)[i * M + j] + 0.2 * ((now)[i * M + j + 1] - (now)[i * M - M + j])

/* Each is what the other one was. */
static void one_after_the_other(int steps)
{
    int now = 0, next = 1;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        next = now;
        now = 1 - now;
    }
    show("one after the other", now, next);
}

static void each_by_itself(int steps)
{
    int now = 1, next = 0;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        now = !now;
        next = (next + 1) & 1;
    }
    show("each by itself", now, next);
}

static void by_if(int steps)
{
    int now = 0, next = 1;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        if (now == 0) {
            now = 1;
            next = 0;
        } else {
            now = 0;
            next = 1;
        }
    }
    show("by if", now, next);
}

/* The step begins with it. */
static void first_of_all(int steps)
{
    int now = 1, next = 0;
    for (int t = 0; t < steps; t++) {
        now = next;
        next = 1 - now;
        SWEEP(u[next], u[now]);
    }
    show("first of all", now, next);
}

static void by_bits(int steps)
{
    unsigned now = 0, next = 1;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        now ^= next;
        next ^= now;
        now ^= next;
    }
    show("by bits", (int)now, (int)next);
}

static void by_a_third(int steps)
{
    int now = 0, next = 1, held;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        held = now;
        now = next;
        next = held;
    }
    show("by a third", now, next);
}

static void in_a_block(int steps)
{
    bool now = false;
    for (int t = 0; t < steps; t++) {
        const int next = 1 - now;
        SWEEP(u[next], u[now]);
        {
            now = next;
        }
    }
    show("in a block", now, 0);
}

static void by_time(int steps)
{
    int now, next;
    for (int t = 3; t < steps; t++) {
        if (t % 2 == 0) {
            now = 0;
            next = 1;
        } else {
            now = 1;
            next = 0;
        }
        SWEEP(u[next], u[now]);
    }
    show("by time", 0, 0);
}

/* Three levels. */
static void three_that_go_round(int steps, int second)
{
    int old = 0, now = second, next = 2;
    for (int t = 0; t < steps; t++) {
        WAVE(w[next], w[now], w[old]);
        old = now;
        now = next;
        next = 3 - old - now;
    }
    show("three that go round", old, now * 3 + next);
}

static void three_by_a_fourth(int steps)
{
    int old = 1, now = 2, next = 0;
    for (int t = 0; t < steps; t++) {
        WAVE(w[next], w[now], w[old]);
        int held = old;
        old = now;
        now = next;
        next = held;
    }
    show("three by a fourth", old, now * 3 + next);
}

/* Two numbers that have nothing to do with each other. */
static void of_two_and_of_three(int steps)
{
    int now = 1, level = 2;
    for (int t = 0; t < steps; t++) {
        const int next = !now, newest = (level + 1) % 3;
        SWEEP(u[next], u[now]);
        WAVE(w[newest], w[level], w[(level + 2) % 3]);
        level = newest;
        now = now == 0 ? 1 : 0;
    }
    show("of two and of three", now, level);
}

/* Pointers that the time chooses. */
static void pointers_by_time(int steps, double *a, double *b)
{
    for (int t = 1; t < steps; t++) {
        const double *now = t % 2 ? b : a;
        double *next = t % 2 ? a : b;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) next[i * M + j] = 0.5 * (now[i * M + j - 1] + now[i * M + M + j]);
    }
    show("pointers by time", 0, 0);
}

static void pointers_by_if(int steps, double *a, double *b)
{
    double *now = a, *next = b;
    for (int t = 4; t < steps; t++) {
        if ((t & 1) == 0)
            now = a, next = b;
        else {
            next = a;
            now = b;
        }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) next[i * M + j] = 0.5 * (now[i * M + j - 1] + now[i * M + M + j]);
    }
    show("pointers by if", now == a, next == b);
}

static void pointers_in_an_array(int steps, double *a, double *b)
{
    double *level[2] = {a, b};
    int now = 0;
    for (int t = 0; t < steps; t++) {
        double *from = level[now], *to = level[1 - now];
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) to[i * M + j] = 0.5 * (from[i * M + j - 1] + from[i * M + M + j]);
        now = 1 - now;
    }
    show("pointers in an array", now, 0);
}

#ifdef SAME
static double *p, *q;

/* Both begin with the same number. */
static void from_the_same(int steps, int next)
{
    int now = 1;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        now = !now;
        next = !next;
    }
    show("from the same", now, next);
}

/* One of the pointers is named by itself, too. */
static void beside_a_pointer(int steps, double *a, double *b)
{
    for (int t = 0; t < steps; t++) {
        p = t % 2 ? b : a;
        q = t % 2 ? a : b;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) q[i * M + j] = 0.5 * (p[i * M + j - 1] + a[i * M + M + j]);
    }
    show("beside a pointer", p == a, q == b);
}

/* No round is like the others. */
static void out_of_turn(int steps)
{
    int now = 0, next = 1;
    for (int t = 0; t < steps; t++) {
        SWEEP(u[next], u[now]);
        now = 1 - now;
        next = t == 5 ? next : 1 - next;
    }
    show("out of turn", now, next);
}
#endif

int main(void)
{
    for (int steps = 0; steps < 14; steps += 13) {
        fill();
#ifdef SAME
        from_the_same(steps, 1);
        beside_a_pointer(steps, w[0], w[1]);
        out_of_turn(steps);
        three_that_go_round(steps, 0);
#else
        one_after_the_other(steps);
        each_by_itself(steps);
        by_if(steps);
        first_of_all(steps);
        by_bits(steps);
        by_a_third(steps);
        in_a_block(steps);
        by_time(steps);
        three_that_go_round(steps, 1);
        three_by_a_fourth(steps);
        of_two_and_of_three(steps);
        pointers_by_time(steps, w[0], w[1]);
        pointers_by_if(steps, w[1], w[2]);
        pointers_in_an_array(steps, w[2], w[0]);
#endif
    }
    return 0;
}
