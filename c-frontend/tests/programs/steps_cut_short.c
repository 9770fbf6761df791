/* Steps that `break` or `continue` ends before they have computed all arrays: the others hold what an earlier step has computed. */
#include <math.h>
#include <stdio.h>

#ifndef REAL
#define REAL double
#endif
#ifndef STEPS
#define STEPS 12
#endif
#define N 23
#define M 29

static REAL u[N][M], v[N][M], w[N][M];
static int cell[N][M], next[N][M], after[N][M];

static void begin(int by)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            u[i][j] = (i * 7 + j * 13 + by) % 11;
            v[i][j] = (i * 5 + j * 3 + by) % 7;
            w[i][j] = (i + j + by) % 5;
            cell[i][j] = (i * j + by) % 13;
            next[i][j] = (i + 2 * j + by) % 5;
            after[i][j] = (3 * i + j + by) % 7;
        }
}

static void show(const char *name)
{
    REAL sums[3] = { 0, 0, 0 };
    long cells[3] = { 0, 0, 0 };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            sums[0] += u[i][j] * (i % 5 + 1) * (j % 3 + 1);
            sums[1] += v[i][j] * (i % 3 + 1) * (j % 7 + 1);
            sums[2] += w[i][j] * (i % 7 + 1) * (j % 5 + 1);
            cells[0] = (cells[0] * 3 + cell[i][j]) % 1000003;
            cells[1] = (cells[1] * 3 + next[i][j]) % 1000003;
            cells[2] = (cells[2] * 3 + after[i][j]) % 1000003;
        }
    printf("%s %a %a %a %ld %ld %ld\n", name, sums[0], sums[1], sums[2], cells[0], cells[1], cells[2]);
}

#define INNER \
    for (int i = 1; i < N - 1; i++) \
        for (int j = 1; j < M - 1; j++)

int main(void)
{
    begin(0);
    for (int t = 0; t < STEPS; t++) {
        INNER v[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        if (t == 4) break;
        INNER w[i][j] = (REAL)0.5 * v[i][j] + (REAL)0.25 * u[i][j + 1];
        INNER u[i][j] = w[i][j];
    }
    show("broken off between");
    begin(1);
    for (int t = 0; t < STEPS; t++) {
        INNER next[i][j] = (cell[i - 1][j] * 3 + cell[i + 1][j]) % 101;
        if (t == 4) break;
        INNER after[i][j] = (next[i][j] * 2 + cell[i][j + 1]) % 97;
        INNER cell[i][j] = after[i][j];
    }
    show("integers");
    begin(2);
    for (int t = 0; t < STEPS; t++) {
        if (t % 3 == 2) continue;
        INNER v[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        INNER u[i][j] = v[i][j];
    }
    show("some left out");
    begin(3);
    for (int t = 0; t < STEPS; t++) {
        if (t == STEPS - 1) continue;
        INNER next[i][j] = (cell[i - 1][j] * 3 + cell[i + 1][j]) % 101;
        INNER cell[i][j] = next[i][j];
    }
    show("the last one left out");
    begin(4);
    for (int t = 0; t < STEPS; t++) {
        if (t < STEPS - 2) {
            INNER v[i][j] = u[i][j];
            INNER u[i][j] = (REAL)0.5 * (v[i][j] + v[i][j]) - (REAL)0.125 * v[i][j];
            INNER next[i][j] = (cell[i - 1][j] * 3 + cell[i + 1][j]) % 101;
            INNER cell[i][j] = next[i][j];
        }
    }
    show("two under a condition");
    begin(5);
    REAL change = 1;
    for (int t = 0; t < 40; t++) {
        change = 0;
        INNER v[i][j] = (REAL)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        INNER if (fabs(v[i][j] - u[i][j]) > change) change = fabs(v[i][j] - u[i][j]);
        if (change < (REAL)0.05) break;
        INNER w[i][j] = (REAL)0.875 * v[i][j] + (REAL)0.125 * u[i][j];
        INNER u[i][j] = w[i][j];
    }
    printf("%a\n", change);
    show("until it rests");
    return 0;
}
