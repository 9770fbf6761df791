/* heat3d as one would write it by hand: two buffers, OpenMP over planes, the compiler vectorises. */
#include <stddef.h>

int heat3d_invoke(void **fields, const long long *sizes, long long steps, const double *parameters)
{
    const ptrdiff_t n0 = sizes[0], n1 = sizes[1], n2 = sizes[2], plane = n1 * n2;
    const float alpha = (float)parameters[0];
    float *buffers[2] = { (float *)fields[0], (float *)fields[0] + sizes[5] };
    for (long long t = 0; t < steps; ++t) {
        const float *restrict u = buffers[t % 2];
        float *restrict next = buffers[(t + 1) % 2];
#pragma omp parallel for schedule(static)
        for (ptrdiff_t i = 1; i < n0 - 1; ++i) {
            for (ptrdiff_t j = 1; j < n1 - 1; ++j) {
#pragma omp simd
                for (ptrdiff_t k = 1; k < n2 - 1; ++k) {
                    const ptrdiff_t x = i * plane + j * n2 + k;
                    next[x] = alpha * (u[x + plane] - 2.0f * u[x] + u[x - plane])
                        + alpha * (u[x + n2] - 2.0f * u[x] + u[x - n2])
                        + alpha * (u[x + 1] - 2.0f * u[x] + u[x - 1]) + u[x];
                }
            }
        }
    }
    return 0;
}
