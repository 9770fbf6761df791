/* Each step takes new memory, gives the old one back and goes on with the new one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REAL
#define REAL double
#endif
#define ROWS 26
#define COLUMNS 34

struct grid { int nx, ny; REAL *data; };

static REAL *filled(int count)
{
    REAL *made = malloc(count * sizeof(REAL));
    for (int i = 0; i < count; i++) made[i] = (REAL)(i % 17);
    return made;
}

static REAL *stepped(const REAL *u, int n)
{
    REAL *next = (REAL *)malloc(sizeof(REAL) * n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i == 0 || j == 0 || i == n - 1 || j == n - 1) next[i * n + j] = u[i * n + j];
            else next[i * n + j] = (u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1]) / 4;
    return next;
}

static void diffuse(struct grid *g)
{
    REAL *next = malloc(g->nx * g->ny * sizeof(REAL));
    memcpy(next, g->data, g->nx * g->ny * sizeof(REAL));
    for (int i = 1; i < g->nx - 1; i++)
        for (int j = 1; j < g->ny - 1; j++)
            next[i * g->ny + j] += (REAL)0.1 * (g->data[(i - 1) * g->ny + j] + g->data[(i + 1) * g->ny + j]
                + g->data[i * g->ny + j - 1] + g->data[i * g->ny + j + 1] - 4 * g->data[i * g->ny + j]);
    free(g->data);
    g->data = next;
}

static int **taken(int rows, int columns)
{
    int **g = malloc(rows * sizeof(int *));
    for (int i = 0; i < rows; i++) g[i] = malloc(columns * sizeof(int));
    return g;
}

static void released(int **g, int rows)
{
    for (int i = 0; i < rows; i++) free(g[i]);
    free(g);
}

static int **generation(int **g)
{
    int **n = taken(ROWS, COLUMNS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int count = 0;
            for (int a = -1; a <= 1; a++)
                for (int b = -1; b <= 1; b++)
                    if ((a || b) && i + a >= 0 && i + a < ROWS && j + b >= 0 && j + b < COLUMNS) count += g[i + a][j + b];
            n[i][j] = count == 3 || (count == 2 && g[i][j]);
        }
    released(g, ROWS);
    return n;
}

int main(void)
{
    int n = 30, m = 200;
    REAL *line = filled(m), *u = filled(n * n);
    for (int t = 0; t < 40; t++) {
        REAL *next = malloc(m * sizeof(REAL));
        next[0] = line[0];
        next[m - 1] = line[m - 1];
        for (int i = 1; i < m - 1; i++) next[i] = (line[i - 1] + 2 * line[i] + line[i + 1]) / 4;
        free(line);
        line = next;
    }
    for (int i = 0; i < m; i++) printf("%a\n", (double)line[i]);
    for (int t = 0; t < 25; t++) {
        REAL *next = stepped(u, n);
        free(u);
        u = next;
    }
    for (int i = 0; i < n * n; i++) printf("%a\n", (double)u[i]);
    struct grid g = { 20, 30, filled(600) };
    for (int t = 0; t < 25; t++) diffuse(&g);
    for (int i = 0; i < 600; i++) printf("%a\n", (double)g.data[i]);
    int **cells = taken(ROWS, COLUMNS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) cells[i][j] = (i * 7 + j * 11) % 5 < 2;
    for (int t = 0; t < 25; t++) cells = generation(cells);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) putchar(cells[i][j] ? '#' : '.');
    /* A copy of all of it, to which is added. */
    REAL *before = filled(m);
    for (int t = 0; t < 30; t++) {
        memcpy(before, line, m * sizeof *line);
        for (int i = 1; i < m - 1; i++) before[i] += (REAL)0.2 * (line[i - 1] - 2 * line[i] + line[i + 1]);
        memcpy(line, before, m * sizeof *line);
    }
    for (int i = 0; i < m; i++) printf("%a\n", (double)line[i]);
    released(cells, ROWS);
    free(before);
    free(line);
    free(u);
    free(g.data);
    return 0;
}
