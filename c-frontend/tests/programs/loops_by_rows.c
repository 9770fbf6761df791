/* Columns of flat images, in loops that count by the length of a row. */
#include <stdio.h>
#include <stdlib.h>
#ifndef NX
#define NX 29
#endif
#ifndef NY
#define NY 23
#endif
#ifndef STEPS
#define STEPS 12
#endif

static void stencil(const int nx, const int ny, float *restrict image, float *restrict next)
{
    int most = nx * ny;
    next[0] = image[0] * 0.6f + image[1] * 0.1f + image[nx] * 0.1f;
    next[nx - 1] = image[nx - 1] * 0.6f + image[nx - 2] * 0.1f + image[2 * nx - 1] * 0.1f;
    next[most - nx] = image[most - nx] * 0.6f + image[most - 2 * nx] * 0.1f + image[most - nx + 1] * 0.1f;
    next[most - 1] = image[most - 1] * 0.6f + image[most - 2] * 0.1f + image[most - nx - 1] * 0.1f;
    for (int t = 1; t < nx - 1; t++)
        next[t] = image[t] * 0.6f + image[t - 1] * 0.1f + image[t + 1] * 0.1f + image[t + nx] * 0.1f;
    for (int l = nx; l < most - nx; l += nx) {
        next[l] = image[l] * 0.6f;
        next[l] += image[l - nx] * 0.1f;
        next[l] += image[l + 1] * 0.1f;
        next[l] += image[l + nx] * 0.1f;
    }
    int r;
    for (r = 2 * nx - 1; r <= most - nx - 1; r = r + nx)
        next[r] = image[r] * 0.6f + image[r - nx] * 0.1f + image[r - 1] * 0.1f + image[r + nx] * 0.1f;
    for (int b = 1; b < nx - 1; b++)
        next[(ny - 1) * nx + b] = image[(ny - 1) * nx + b] * 0.6f + image[(ny - 1) * nx + b - 1] * 0.1f
                                  + image[(ny - 1) * nx + b + 1] * 0.1f + image[(ny - 2) * nx + b] * 0.1f;
    for (int i = 1; i < ny - 1; i++)
        for (int j = 1; j < nx - 1; j++)
            next[j + i * nx] = image[j + i * nx] * 0.6f + image[j + (i - 1) * nx] * 0.1f + image[j - 1 + i * nx] * 0.1f
                               + image[j + 1 + i * nx] * 0.1f + image[j + (i + 1) * nx] * 0.1f;
}

int main(int count, char **arguments)
{
    const int nx = count > 1 ? atoi(arguments[1]) : NX, ny = count > 2 ? atoi(arguments[2]) : NY;
    float *image = malloc((size_t)(nx * ny + 2 * nx + 4) * sizeof(float));
    float *next = malloc((size_t)(nx * ny + 2 * nx + 4) * sizeof(float));
    for (int i = 0; i < nx * ny + 2 * nx + 4; i++) image[i] = next[i] = (float)(i * 37 % 101) / 16;
    for (int t = 0; t < STEPS; t++) {
        stencil(nx, ny, image, next);
        stencil(nx, ny, next, image);
    }
    for (int i = 0; i < nx * ny; i++) printf("%a\n", (double)image[i]);
    free(image);
    free(next);
    return 0;
}
