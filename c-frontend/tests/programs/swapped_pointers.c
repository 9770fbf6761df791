/* Pointers that take turns: two arrays of rows, and three levels of a wave, each with its own edges. */
#include <stdio.h>
#include <stdlib.h>
#ifndef STEPS
#define STEPS 8
#endif
enum { ROWS = 21, COLUMNS = 26 };
#define SWAP(type, a, b) do { type *const swap_ = (a); (a) = (b); (b) = swap_; } while (0)

static void wave(double (*now)[COLUMNS], double (*next)[COLUMNS], float *before, float *here, float *after, int steps)
{
    float *spare;
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < ROWS - 1; i++)
            for (int j = 1; j < COLUMNS - 1; j++)
                next[i][j] = now[i][j] + 0.125 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j])
                    + 1e-3 * t;
        for (int i = 2; i < ROWS - 2; i++)
            for (int j = 2; j < COLUMNS - 2; j++)
                after[i * COLUMNS + j] = 2 * here[i * COLUMNS + j] - before[i * COLUMNS + j]
                    + 0.0625f * (here[(i - 2) * COLUMNS + j] + here[i * COLUMNS + j + 2] - 2 * here[i * COLUMNS + j]) + next[i][j];
        {
            double (*other)[COLUMNS] = now;
            now = next, next = other;
        }
        spare = before;
        before = here;
        here = after;
        after = spare;
    }
#pragma endscop
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int at = i * COLUMNS + j;
            printf("%a %a %a %a %a\n", now[i][j], next[i][j], (double)before[at], (double)here[at], (double)after[at]);
        }
    printf("%d\n", spare == after);
}

static double field[2][ROWS][COLUMNS];

int main(void)
{
    float *levels[3];
    for (int k = 0; k < 3; k++) {
        levels[k] = malloc(sizeof(float) * ROWS * COLUMNS);
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            levels[k][i] = (float)((i * 31 + k) % 47) / 8;
            if (k < 2) field[k][i / COLUMNS][i % COLUMNS] = (double)((i * 17 + k) % 53) / 4;
        }
    }
    wave(field[0], field[1], levels[0], levels[1], levels[2], STEPS);
    for (int k = 0; k < 3; k++) free(levels[k]);
    return 0;
}
