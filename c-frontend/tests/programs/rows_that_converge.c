/* Rows that are allocated one by one, between which memory is not the program's, and a maximum that is tested in every step:
 * what a block of steps has changed in vain is put back row by row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef REAL
#define REAL double
#endif

static REAL **rows(int n, int m)
{
    REAL **made = malloc(n * sizeof *made);
    for (int i = 0; i < n; i++) {
        made[i] = malloc(m * sizeof **made);
        for (int j = 0; j < m; j++) made[i][j] = (REAL)((i * 7 + j * 3) % 11);
    }
    return made;
}

static void drop(REAL **made, int n)
{
    for (int i = 0; i < n; i++) free(made[i]);
    free(made);
}

int main(void)
{
    int n = 34, m = 43, i, j, steps = 0;
    REAL **t = rows(n, m), **next = rows(n, m), largest;
    do {
        largest = 0;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++)
                next[i][j] = (t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1]) / 4;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) {
                largest = fmax(largest, fabs(next[i][j] - t[i][j]));
                t[i][j] = next[i][j];
            }
        steps++;
    } while (largest > 0.02);
    printf("%d %a\n", steps, largest);
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) printf("%a %a\n", t[i][j], next[i][j]);
    drop(t, n);
    drop(next, n);
    return 0;
}
