// How many rows the loop goes over is not known; the neighbours are counted by a function.
#include <stdlib.h>
static int width, cells;
static int *now, *next;

static int neighbours(int at)
{
    int count = 0;
    if (at >= width && now[at - width]) count++;
    if (at < cells - width && now[at + width]) count++;
    if (at % width != 0 && now[at - 1]) count++;
    if (at % width != width - 1 && now[at + 1]) count++;
    return count;
}

static void generation(void)
{
    for (int i = 0; i < cells; i++) {
        int alive = neighbours(i);
        next[i] = alive == 2 || (now[i] && alive == 3);
    }
    for (int i = 0; i < cells; i++) now[i] = next[i];
}

int main(int argc, char **argv)
{
    width = atoi(argv[argc - 1]);
    cells = width * atoi(argv[argc - 2]);
    now = calloc(cells, sizeof *now);
    next = calloc(cells, sizeof *next);
    now[width + 1] = now[width + 2] = 1;
    for (int t = 0; t < 40; t++) generation();
    return now[width + 2];
}
