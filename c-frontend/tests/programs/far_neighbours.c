/* Neighbours along a row that are farther away than a vector is long, to either side, and as far. */
#include <stdio.h>
#ifndef REAL
#define REAL double
#endif
enum { ROWS = 70, COLUMNS = 300, STEPS = 11 };
static REAL u[2][ROWS][COLUMNS], v[2][ROWS][COLUMNS];

int main(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) u[0][i][j] = u[1][i][j] = v[0][i][j] = v[1][i][j] = (REAL)((i * 37 + j * 11) % 101);
    for (int t = 0; t < STEPS; t++)
        for (int i = 2; i < ROWS - 2; i++)
            for (int j = 20; j < COLUMNS - 20; j++)
                u[(t + 1) % 2][i][j] = (REAL)0.2 * (u[t % 2][i][j - 9] + u[t % 2][i][j + 9] + u[t % 2][i - 1][j + 17] + u[t % 2][i + 1][j - 19])
                    + (REAL)0.1 * u[t % 2][i][j + 3];
    for (int t = 0; t < STEPS; t++)
        for (int i = 2; i < ROWS - 2; i++)
            for (int j = 20; j < COLUMNS - 20; j++)
                v[(t + 1) % 2][i][j] = (REAL)0.2 * (v[t % 2][i][j - 8] + v[t % 2][i][j + 16] + v[t % 2][i][j + 15] + v[t % 2][i][j - 7]);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) printf("%a %a\n", (double)u[1][i][j], (double)v[1][i][j]);
    return 0;
}
