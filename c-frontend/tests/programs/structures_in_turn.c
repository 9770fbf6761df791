/* Pointers to structures that take turns, with the sizes that each of them holds: by a third one, by a function, three in a circle.
 * With -DMORE the sizes are not the same, and the loops run as they are written. */
#include <stdio.h>
#include <stdlib.h>
#ifndef REAL
#define REAL double
#endif
#ifndef MORE
#define MORE 0
#endif

typedef struct {
    int nx, ny;
    REAL *at;
} grid;
struct rows {
    int n, m;
    REAL **u;
    double factor;
};
struct fixed {
    REAL u[23][29], v[23][29];
};
#define AT(g, i, j) ((g)->at[(i) * (g)->ny + (j)])

static grid *make(int nx, int ny)
{
    grid *g = malloc(sizeof *g);
    g->nx = nx;
    g->ny = ny;
    g->at = malloc(sizeof(REAL) * nx * (ny + 2));
    for (int i = 0; i < nx * (ny + 2); i++) g->at[i] = i * 7 % 13 * (REAL)0.125;
    return g;
}

static void show(const char *what, const grid *g)
{
    printf("%s %d %d\n", what, g->nx, g->ny);
    for (int i = 0; i < g->nx * g->ny; i++) printf("%a\n", (double)g->at[i]);
}

static void smooth(grid *to, const grid *from)
{
    for (int i = 1; i < from->nx - 1; i++)
        for (int j = 1; j < from->ny - 1; j++)
            AT(to, i, j) = (REAL)0.25 * (AT(from, i - 1, j) + AT(from, i + 1, j) + AT(from, i, j - 1) + AT(from, i, j + 1));
}

static void change(grid **a, grid **b)
{
    grid *held = *a;
    *a = *b;
    *b = held;
}

static void by_a_third(int steps)
{
    grid *a = make(31, 27), *b = make(31, 27 + MORE);
    for (int t = 0; t < steps; t++) {
        smooth(b, a);
        grid *held = a;
        a = b;
        b = held;
    }
    show("by a third", a);
    show("the other", b);
}

static void by_a_function(int steps)
{
    grid x = *make(31, 27), y = *make(31, 27 + MORE), *a = &x, *b = &y;
    for (int t = 0; t < steps; t++) {
        smooth(b, a);
        for (int j = 0; j < b->ny; j++) AT(b, 0, j) = AT(b, 1, j);
        change(&a, &b);
        if (t % 5 == 4) printf("%d %a\n", a == &x, (double)AT(a, 3, 4));
    }
    show("by a function", a);
    show("the other", b);
}

static void three(int steps)
{
    grid *old = make(25, 33), *now = make(25, 33 + MORE), *next = make(25, 33), *held;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < now->nx - 1; i++)
            for (int j = 1; j < now->ny - 1; j++)
                AT(next, i, j) = (REAL)1.5 * AT(now, i, j) - (REAL)0.5 * AT(old, i, j) + (REAL)0.1 * (AT(now, i + 1, j) - AT(now, i, j - 1));
        held = old;
        old = now;
        now = next;
        next = held;
    }
    show("three", now);
    show("old", old);
}

static void of_rows(int steps)
{
    struct rows r[2], *a = &r[0], *b = &r[1];
    for (int k = 0; k < 2; k++) {
        r[k].n = 21;
        r[k].m = 26 + k * MORE;
        r[k].factor = 0.25;
        r[k].u = malloc(21 * sizeof(REAL *));
        for (int i = 0; i < 21; i++) {
            r[k].u[i] = malloc(32 * sizeof(REAL));
            for (int j = 0; j < 32; j++) r[k].u[i][j] = (i * 3 + j * 5 + k) % 17;
        }
    }
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < a->n - 1; i++)
            for (int j = 1; j < b->m - 1; j++) b->u[i][j] = (REAL)0.5 * (a->u[i - 1][j] + a->u[i][j + 1]);
        struct rows *held = b;
        b = a;
        a = held;
    }
    printf("of rows %d\n", a == &r[0]);
    for (int i = 0; i < 21; i++)
        for (int j = 0; j < 26; j++) printf("%a %a\n", (double)a->u[i][j], (double)b->u[i][j]);
}

/* What is computed in one field reads another one, which stays with its structure. */
static void with_a_field_that_stays(int steps)
{
    static struct fixed x, y;
    struct fixed *a = &x, *b = &y;
    for (int i = 0; i < 23; i++)
        for (int j = 0; j < 29; j++) {
            x.u[i][j] = y.u[i][j] = (i * 5 + j) % 7;
            x.v[i][j] = (i + j) % 3;
            y.v[i][j] = (i + j) % 5;
        }
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 22; i++)
            for (int j = 1; j < 28; j++) b->u[i][j] = (REAL)0.5 * (a->u[i - 1][j] + a->u[i][j + 1]) + a->v[i][j];
        struct fixed *held = a;
        a = b;
        b = held;
    }
    for (int i = 0; i < 23; i++)
        for (int j = 0; j < 29; j++) printf("%a %a %a\n", (double)a->u[i][j], (double)b->u[i][j], (double)a->v[i][j]);
}

/* Both fields of both structures are computed. */
static void two_fields(int steps)
{
    static struct fixed x, y;
    struct fixed *a = &x, *b = &y;
    for (int i = 0; i < 23; i++)
        for (int j = 0; j < 29; j++) {
            x.u[i][j] = y.u[i][j] = (i * 5 + j) % 7;
            x.v[i][j] = y.v[i][j] = (i + j) % 3;
        }
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < 22; i++)
            for (int j = 1; j < 28; j++) {
                b->u[i][j] = (REAL)0.5 * (a->u[i - 1][j] + a->v[i][j + 1]);
                b->v[i][j] = a->v[i][j] - (REAL)0.25 * (a->u[i][j] - a->u[i][j - 1]);
            }
        struct fixed *held = a;
        a = b;
        b = held;
    }
    for (int i = 0; i < 23; i++)
        for (int j = 0; j < 29; j++)
            printf("%a %a %a %a\n", (double)a->u[i][j], (double)b->u[i][j], (double)a->v[i][j], (double)b->v[i][j]);
}

/* Only in some steps, and before the loops. */
static void not_in_each_step(int steps)
{
    grid *a = make(31, 27), *b = make(31, 27 + MORE);
    for (int t = 0; t < steps; t++) {
        smooth(b, a);
        if (t % 3 != 1) {
            grid *held = a;
            a = b;
            b = held;
        }
    }
    show("not in each step", a);
    for (int t = 0; t < steps; t++) {
        grid *held = a;
        a = b;
        b = held;
        smooth(b, a);
    }
    show("before the loops", a);
}

int main(void)
{
    for (int steps = 1; steps < 15; steps += 12) {
        by_a_third(steps);
        by_a_function(steps);
        three(steps);
        of_rows(steps);
        two_fields(steps);
        with_a_field_that_stays(steps);
        not_in_each_step(steps);
    }
    return 0;
}
