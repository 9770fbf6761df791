/* Time goes by twos: one array each way in every round; named numbers, and strides that are variables. */
#include <stdio.h>
#include <stdlib.h>
enum { R = 2, ROWS = 37, COLUMNS = 29 };
#ifndef STEPS
#define STEPS 13
#endif

static void smooth(float *u, float *v, int rows, int columns, int steps, const float *source)
{
    const int side = R, weights = 2 * R + 1;
    const int row = columns, all = rows;
    int t;
#pragma scop
    for (t = 0; t < steps; t += 2) {
        for (int i = side; i < all - side; i++)
            for (int j = R; j <= columns - R - 1; j++) {
                const int at = i * row + j;
                float sum = 0;
                for (int k = -side; k <= side; k++) sum += u[at + k * row] / (float)weights;
                v[at] = sum + source[t];
            }
        for (int i = side; i < all - side; i++)
            for (int j = R; j <= columns - R - 1; j++) {
                const int at = i * row + j;
                u[at] = 0.5f * (v[at - 1] + v[at + 1]);
            }
    }
#pragma endscop
    printf("%d\n", t);
}

int main(void)
{
    float *u = malloc(sizeof(float) * ROWS * COLUMNS), *v = malloc(sizeof(float) * ROWS * COLUMNS), source[STEPS];
    for (int i = 0; i < ROWS * COLUMNS; i++) u[i] = v[i] = (float)(i * 37 % 101) / 8;
    for (int i = 0; i < STEPS; i++) source[i] = (float)i / 16;
    smooth(u, v, ROWS, COLUMNS, STEPS, source);
    for (int i = 0; i < ROWS * COLUMNS; i++) printf("%a %a\n", (double)u[i], (double)v[i]);
    free(u);
    free(v);
    return 0;
}
