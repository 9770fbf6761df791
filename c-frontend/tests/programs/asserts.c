#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#ifndef STEPS
#define STEPS 40
#endif
#ifndef ROWS
#define ROWS 60
#endif

struct grid {
    int rows;
    double value[100];
};

/* Sizes are the same in all steps: they are asked for before the loop. */
static void copy(struct grid *to, const struct grid *from)
{
    assert(to->rows == from->rows);
    for (int i = 0; i < to->rows; i++) to->value[i] = from->value[i];
}

static void smooth(struct grid *to, const struct grid *from)
{
    assert(from->rows > 2 && from->rows <= 100);
    for (int i = 1; i < from->rows - 1; i++)
        to->value[i] = from->value[i] + 0.2 * (from->value[i - 1] - 2 * from->value[i] + from->value[i + 1]);
}

int main(void)
{
    static struct grid now, next;
    now.rows = 60;
    next.rows = ROWS;
    for (int i = 0; i < 100; i++) now.value[i] = next.value[i] = i % 9;
    for (int t = 0; t < STEPS; t++) {
        smooth(&next, &now);
        assert(t < 1000);
        copy(&now, &next);
    }
    for (int i = 0; i < 100; i++) printf("%a\n", now.value[i]);
    return 0;
}
