/* Rings and a torus: indices that wrap around by choices, with names and without, between elements, and by a mask. */
#include <math.h>
#include <stdio.h>
#ifndef STEPS
#define STEPS 41
#endif
enum { RING = 101, SIDE = 32 };
static double phase[RING], next[RING], own[RING], torus[2][SIDE][SIDE + 3];
static float line[2][RING];

static void oscillators(void)
{
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < RING; i++) {
            int before = (i == 0) ? RING - 1 : i - 1;
            const int behind = i < RING - 1 ? i + 1 : 0;
            next[i] = phase[i] + 0.01 * (own[(i + 2) % RING] + sin(phase[before] - phase[i]) + sin(phase[behind] - phase[i]));
        }
        for (int i = 0; i < RING; i++) phase[i] = next[i];
    }
}

static void far(int n)
{
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < n; i++)
            line[(t + 1) % 2][i] = 0.5f * line[t % 2][i] + 0.3f * line[t % 2][i < 3 ? i - 3 + n : i - 3]
                + 0.2f * line[t % 2][i + 2 >= n ? i + 2 - n : i + 2];
}

static void heat(void)
{
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                torus[(t + 1) % 2][i][j] = torus[t % 2][i][j]
                    + 0.125 * ((i + 1 == SIDE ? torus[t % 2][0][j] : torus[t % 2][i + 1][j]) - 2 * torus[t % 2][i][j]
                               + (i == 0 ? torus[t % 2][SIDE - 1][j] : torus[t % 2][i - 1][j]))
                    + 0.125 * (torus[t % 2][i][(j + 1) & (SIDE - 1)] - 2 * torus[t % 2][i][j]
                               + torus[t % 2][i][(j - 1) & (SIDE - 1)]);
}

int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < RING; i++) {
        phase[i] = i * 0.37;
        own[i] = 0.1 * (i % 9);
        line[0][i] = (float)(i * 7 % 11);
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE + 3; j++) torus[0][i][j] = torus[1][i][j] = i * 31 % 17 + j % 5;
    oscillators();
    far(RING - argc);
    heat();
    for (int i = 0; i < RING; i++) printf("%a %a %a\n", phase[i], (double)line[0][i], (double)line[1][i]);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE + 3; j++) printf("%a %a\n", torus[0][i][j], torus[1][i][j]);
    return 0;
}
