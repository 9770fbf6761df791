#include <stdlib.h>
int forest[50][60], next[50][60];
void grow(int years)
{
    for (int t = 0; t < years; t++) {
        for (int i = 1; i < 49; i++)
            for (int j = 1; j < 59; j++)
                next[i][j] = forest[i - 1][j] == 2 || rand() % 100 == 0 ? 2 : forest[i][j];
        for (int i = 1; i < 49; i++)
            for (int j = 1; j < 59; j++)
                forest[i][j] = next[i][j];
    }
}
