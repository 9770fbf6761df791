/* Loops over space under conditions that are known before the steps run: on time, on what is counted, on what the loop leaves
 * alone. What one branch leaves in scalars is what C leaves there, whichever of them a step has taken. */
#include <stdio.h>

#ifndef KIND
#define KIND 2
#endif
enum { N = 40, M = 50 };
static double a[N][M], b[N][M], u[2][N][M], line[M], other[M];
struct grid {
    int kind, nx, ny;
};

static void fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) a[i][j] = b[i][j] = u[0][i][j] = u[1][i][j] = (i * 7 + j * 3) % 11;
    for (int j = 0; j < M; j++) line[j] = other[j] = j % 5;
}

static void show(const char *what, int last)
{
    printf("%s %d\n", what, last);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) printf("%a %a %a\n", a[i][j], b[i][j], u[1][i][j]);
    for (int j = 0; j < M; j++) printf("%a\n", line[j]);
}

/* Grids of one or of two dimensions. */
static void step(const struct grid *g)
{
    if (g->kind == 1) {
        for (int j = 1; j < g->ny - 1; j++) other[j] = 0.5 * (line[j - 1] + line[j + 1]);
        for (int j = 1; j < g->ny - 1; j++) line[j] = other[j];
    } else {
        for (int i = 1; i < g->nx - 1; i++)
            for (int j = 1; j < g->ny - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
        for (int i = 1; i < g->nx - 1; i++)
            for (int j = 1; j < g->ny - 1; j++) a[i][j] = b[i][j];
    }
}

int main(void)
{
    /* The part that is computed grows, then all of it is. */
    int column = M - 2;
    fill();
    for (int t = 0; t < 90; t++) {
        if (t >= M - 3) {
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < M - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < M - 1; j++) a[i][j] = b[i][j];
        } else {
            for (int i = 1; i < N - 1; i++)
                for (int j = column; j < M - 1; j++) a[i][j] = 0.5 * (a[i - 1][j] + a[i][j - 1]);
            column--;
        }
    }
    show("grows", column);

    /* Numbers of buffers that are exchanged. */
    int now = 0, next = 1;
    fill();
    for (int t = 0; t < 35; t++) {
        if (t > 4)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < M - 1; j++) {
                    double value = u[now][i - 1][j] + u[now][i + 1][j] + u[now][i][j - 1] + u[now][i][j + 1];
                    u[next][i][j] = value * 0.25;
                }
        else
            for (int i = 1; i < N - 1; i++) u[next][i][5] = 0.5 * u[now][i][5];
        int held = now;
        now = next;
        next = held;
    }
    show("exchanged", 10 * now + next);

    /* What does not change in the loop. */
    struct grid g = { KIND, N, M };
    fill();
    for (int t = 0; t < 30; t++) {
        step(&g);
        if (t % 8 == 5) printf("%d %a %a\n", t, a[N / 2][M / 2], line[M / 2]);
    }
    show("kinds", g.kind);

    /* Turns, of which each step takes one. */
    fill();
    for (int t = 0; t < 21; t++) {
        if (t % 2 == 0) {
            for (int j = 1; j < M - 1; j++) other[j] = 0.5 * (line[j - 1] + line[j + 1]);
        } else {
            for (int j = 1; j < M - 1; j++) line[j] = 0.5 * (other[j - 1] + other[j + 1]);
        }
    }
    show("turns", 0);

    /* A scalar of the steps that run together, read in one that does not take their branch; an index that is read behind. */
    int last = 0, j = 0;
    fill();
    for (int t = 0; t < 43; t++) {
        if (t % 10 != 9) {
            for (j = 1; j < M - 1 - t % 3; j++) other[j] = 0.5 * (line[j - 1] + line[j + 1]);
            for (int k = 1; k < M - 1; k++) line[k] = other[k];
            last = 2 * t;
        } else {
            line[3] += last;
        }
        if (t % 10 == 9) printf("%d\n", last);
    }
    show("left", 1000 * j + last);
    fill();
    for (int t = 0; t < 40; t++)
        if (t % 10 != 9)
            for (j = 1; j < M - 1; j++) other[j] = 0.5 * (line[j] + other[j]);
    show("index", j);
    return 0;
}
