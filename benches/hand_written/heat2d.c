/* heat2d as one would write it by hand: two buffers, OpenMP over rows, the compiler vectorises. */
#include <stddef.h>

int heat2d_invoke(void **fields, const long long *sizes, long long steps, const double *parameters)
{
    const ptrdiff_t n0 = sizes[0], n1 = sizes[1];
    const float a = (float)parameters[0], b = (float)parameters[1];
    float *buffers[2] = { (float *)fields[0], (float *)fields[0] + sizes[3] };
    for (long long t = 0; t < steps; ++t) {
        const float *restrict u = buffers[t % 2];
        float *restrict next = buffers[(t + 1) % 2];
#pragma omp parallel for schedule(static)
        for (ptrdiff_t i = 1; i < n0 - 1; ++i) {
#pragma omp simd
            for (ptrdiff_t j = 1; j < n1 - 1; ++j) {
                const ptrdiff_t x = i * n1 + j;
                next[x] = u[x] + a * (u[x - n1] - 2.0f * u[x] + u[x + n1]) + b * (u[x - 1] - 2.0f * u[x] + u[x + 1]);
            }
        }
    }
    return 0;
}
