/* A wave with sources at places that are known when the program runs, of which one is switched off, and a receiver. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef AT
#define AT 13
#endif
#define STEPS 60
int main(void)
{
    const int nx = 44, ny = 37;
    int sx = AT, sy = ny / 3, t, i, j;
    float *old = calloc(nx * ny, sizeof(float)), *now = calloc(nx * ny, sizeof(float)), *next = calloc(nx * ny, sizeof(float));
    float wavelet[STEPS], seen[STEPS / 4 + 1];
    for (t = 0; t < STEPS; t++) wavelet[t] = (float)sin(0.3 * t);
#pragma scop
    for (t = 0; t < STEPS; t++) {
        for (i = 1; i < nx - 1; i++)
            for (j = 1; j < ny - 1; j++)
                next[i * ny + j] = 2 * now[i * ny + j] - old[i * ny + j] + 0.2f * (now[(i - 1) * ny + j] + now[(i + 1) * ny + j]
                    + now[i * ny + j - 1] + now[i * ny + j + 1] - 4 * now[i * ny + j]);
        next[sx * ny + sy] += wavelet[t];
        if (t < 20)
            next[(nx / 2) * ny + sy + 1] -= 0.5f * wavelet[t];
        float *tmp = old; old = now; now = next; next = tmp;
        if (t % 4 == 0)
            seen[t / 4] = now[sy * ny + 9];
        if (t % 15 == 14) printf("%d %a\n", t, now[5 * ny + 5]);
    }
#pragma endscop
    for (t = 0; t <= (STEPS - 1) / 4; t++) printf("%a\n", seen[t]);
    for (i = 0; i < nx * ny; i++) printf("%a %a\n", now[i], old[i]);
    free(old); free(now); free(next);
    return 0;
}
