/* star2d2r as one would write it by hand: two buffers, OpenMP over rows, the compiler vectorises. */
#include <stddef.h>

int star2d2r_invoke(void **fields, const long long *sizes, long long steps, const double *parameters)
{
    const ptrdiff_t n0 = sizes[0], n1 = sizes[1];
    const float c0 = (float)parameters[0], c1 = (float)parameters[1], c2 = (float)parameters[2];
    float *buffers[2] = { (float *)fields[0], (float *)fields[0] + sizes[3] };
    for (long long t = 0; t < steps; ++t) {
        const float *restrict u = buffers[t % 2];
        float *restrict next = buffers[(t + 1) % 2];
#pragma omp parallel for schedule(static)
        for (ptrdiff_t i = 2; i < n0 - 2; ++i) {
#pragma omp simd
            for (ptrdiff_t j = 2; j < n1 - 2; ++j) {
                const ptrdiff_t x = i * n1 + j;
                next[x] = c0 * u[x] + c1 * (u[x - n1] + u[x + n1] + u[x - 1] + u[x + 1])
                    + c2 * (u[x - 2 * n1] + u[x + 2 * n1] + u[x - 2] + u[x + 2]);
            }
        }
    }
    return 0;
}
