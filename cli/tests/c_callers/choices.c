/* Which tiling is chosen for each grid, and whether every tiling computes what the first one does. */
#define _POSIX_C_SOURCE 200112L
#include "heat2d.h"
#include "heat2d_choice.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N0 = 61, N1 = 128, STEPS = 37 };

static float *computed(void)
{
    const size_t points = (size_t)N0 * N1;
    float *u = malloc(2 * points * sizeof(float));
    if (!u) exit(1);
    for (size_t at = 0; at < 2 * points; ++at) {
        u[at] = (float)(at % points * 2654435761u % 1000) / 1000.0f;
    }
    if (heat2d_run(u, N0, N1, STEPS, 0.1, 0.2) != 0) exit(1);
    return u;
}

int main(void)
{
    static const ptrdiff_t sizes[] = {3, 31, 64, 65, 500, 4096};
    static const ptrdiff_t steps[] = {0, 1, 2, 9, 10, 100, 5000};
    for (int threads = 1; threads <= 3; ++threads) {
        omp_set_num_threads(threads);
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; ++size) {
            for (size_t step = 0; step < sizeof steps / sizeof *steps; ++step) {
                const ptrdiff_t n0 = sizes[size], n1 = sizes[(size + 1) % 6];
                printf("%d %td %td %td %d\n", threads, n0, n1, steps[step],
                       heat2d_variant(n0, n1, steps[step]));
            }
        }
    }
    /* Within a parallel region there is one thread. */
    int inside = -1;
    #pragma omp parallel num_threads(2)
    #pragma omp single
    inside = heat2d_variant(4096, 4096, 100);
    omp_set_num_threads(1);
    if (inside != heat2d_variant(4096, 4096, 100)) return 2;

    float *expected = NULL;
    for (int tiling = 0; heat2d_choice_variant_name(tiling); ++tiling) {
        setenv("TILEWRIGHT_VARIANT", heat2d_choice_variant_name(tiling), 1);
        if (heat2d_variant(N0, N1, STEPS) != tiling) return 3;
        float *u = computed();
        if (!expected) expected = computed();
        if (memcmp(u, expected, 2 * sizeof(float) * N0 * N1) != 0) return 4;
        free(u);
    }
    free(expected);
    /* Who is none forces nothing. */
    setenv("TILEWRIGHT_VARIANT", "v99", 1);
    const int any = heat2d_variant(N0, N1, STEPS);
    unsetenv("TILEWRIGHT_VARIANT");
    return any == heat2d_variant(N0, N1, STEPS) ? 0 : 5;
}
