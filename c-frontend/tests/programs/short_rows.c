/* Rows that are a point too short: the last column of each is the first one of the next. Members through addresses. */
#include <stdio.h>
#include <stdlib.h>
#define WIDTH 23.
struct grid {
    int rows, columns;
    double *u, *v;
};
int main(void)
{
    struct grid g = { 17, (int)WIDTH, 0, 0 }, *p = &g;
    int points = (g.rows + 1) * g.columns + 1;
    g.u = malloc(points * sizeof(double));
    g.v = malloc(points * sizeof(double));
    for (int at = 0; at < points; at++) g.u[at] = g.v[at] = at * 31 % 17 / 5.0;
    for (int t = 0; t < 11; t++) {
        for (int i = 1; i < (&g)->rows; i++)
            for (int j = 1; j < (&g)->columns; j++) {
                int at = (&g)->columns * i + j;
                (&g)->v[at] = 0.25 * (g.u[at - 1] + (&g)->u[at + 1] + g.u[at - (&g)->columns] + g.u[at + g.columns]);
            }
        for (int i = 1; i < (&g)->rows; i++)
            for (int j = 1; j < g.columns; j++) (&g)->u[(&g)->columns * i + j] = g.v[g.columns * i + j];
    }
    for (int t = 0; t < 7; t++)
        for (int i = 1; i < p->rows; i++)
            for (int j = 1; j < (*p).columns; j++) {
                int at = i * p->columns + j;
                (*p).u[at] = 0.25 * (p->u[at - 1] + p->u[at + 1] + (*p).u[at - p->columns] + p->u[at + (*p).columns]);
            }
    for (int at = 0; at < points; at++) printf("%a\n", g.u[at]);
    return 0;
}
