/* Cellular automata of which every generation is shown: integers in rows that lie anywhere, by a function that also changes a
 * cell; bytes; and a step of which rows alone are shown. */
#include <stdio.h>
#include <stdlib.h>

enum { R = 21, C = 37 };
static unsigned char dish[R][C], fresh[R][C];

static void show(int **cell, int generation)
{
    for (int i = 0; i < R; i++) {
        for (int j = 0; j < C; j++) {
            if (cell[i][j]) printf("#");
            else putchar('.');
        }
        putchar('\n');
    }
    cell[generation % R][3] = 1;
}

static void evolve(int **cell, int **next)
{
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) {
            int n = 0;
            for (int a = i - 1; a <= i + 1; a++)
                for (int b = j - 1; b <= j + 1; b++)
                    if (a >= 0 && a < R && b >= 0 && b < C && (a != i || b != j)) n += cell[a][b];
            next[i][j] = cell[i][j] ? n == 2 || n == 3 : n == 3;
        }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) cell[i][j] = next[i][j];
}

int main(void)
{
    int **cell = malloc(R * sizeof *cell), **next = malloc(R * sizeof *next);
    for (int i = 0; i < R; i++) {
        cell[i] = malloc((C + i % 3) * sizeof **cell);
        next[i] = calloc(C + i % 5, sizeof **next);
        for (int j = 0; j < C; j++) dish[i][j] = cell[i][j] = (i * 5 + j * j) % 3 == 0;
    }
    for (int t = 0; t < 9; t++) {
        evolve(cell, next);
        show(cell, t);
    }
    for (int t = 0; t < 9; t++) {
        for (int i = 1; i < R - 1; i++)
            for (int j = 1; j < C - 1; j++) fresh[i][j] = (dish[i - 1][j] + dish[i + 1][j] + dish[i][j - 1] + dish[i][j + 1] + t) % 5;
        for (int i = 1; i < R - 1; i++)
            for (int j = 1; j < C - 1; j++) {
                dish[i][j] = fresh[i][j];
                printf("%d%c", dish[i][j], j < C - 2 ? ' ' : '\n');
            }
    }
    return 0;
}
