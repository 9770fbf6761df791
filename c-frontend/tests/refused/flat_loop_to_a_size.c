#include <stdio.h>
#include <stdlib.h>
struct grid { int width, height, size; double *now, *next; };

int main(void)
{
    struct grid *g = malloc(sizeof *g);
    g->width = 40, g->height = 30, g->size = g->width * g->height;
    g->now = calloc(g->size, sizeof(double)), g->next = calloc(g->size, sizeof(double));
    g->now[45] = 1;
    for (int step = 0; step < 50; step++) {
        for (int i = 0; i < g->size; i++) {
            int x = i % g->width, y = i / g->width;
            if (x > 0 && x < g->width - 1 && y > 0 && y < g->height - 1)
                g->next[i] = 0.25 * (g->now[i - 1] + g->now[i + 1] + g->now[i - g->width] + g->now[i + g->width]);
            else
                g->next[i] = g->now[i];
        }
        double *held = g->now;
        g->now = g->next;
        g->next = held;
    }
    printf("%f\n", g->now[100]);
    return 0;
}
