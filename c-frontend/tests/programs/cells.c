/* Cells that live and die (Conway), counted by loops over neighbours; and how often each was born. */
#include <stdio.h>
#ifndef CELL
#define CELL unsigned char
#endif
#ifndef STEPS
#define STEPS 14
#endif
#define ROWS 23
#define COLUMNS 37
static CELL cell[ROWS][COLUMNS], later[ROWS][COLUMNS];
static int born[ROWS][COLUMNS];
int main(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            cell[i][j] = (i * 7 + j * 5) % 4 == 0;
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < ROWS - 1; i++)
            for (int j = 1; j < COLUMNS - 1; j++) {
                int n = 0;
                for (int di = -1; di <= 1; di++)
                    for (int dj = -1; dj <= 1; dj++)
                        if (di != 0 || dj != 0) n += cell[i + di][j + dj];
                if (cell[i][j]) {
                    later[i][j] = n == 2 || n == 3;
                } else {
                    later[i][j] = n == 3;
                    if (n == 3) born[i][j]++;
                }
            }
        for (int i = 1; i < ROWS - 1; i++)
            for (int j = 1; j < COLUMNS - 1; j++)
                cell[i][j] = later[i][j];
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) printf("%c%d", ".#"[(int)cell[i][j]], born[i][j]);
        puts("");
    }
    return 0;
}
