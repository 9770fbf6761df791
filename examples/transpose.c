/* A matrix is transposed in blocks; prints the seconds of the fastest of five rounds. Macros: BLOCK_I, BLOCK_J, WIDE. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 1024
#if WIDE
typedef double element;
#else
typedef float element;
#endif

static element a[N][N], b[N][N];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(void)
{
    double best = 1e9;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i * 3 + j;
    for (int round = 0; round < 5; round++) {
        double start = now();
        for (int i0 = 0; i0 < N; i0 += BLOCK_I)
            for (int j0 = 0; j0 < N; j0 += BLOCK_J)
                for (int i = i0; i < i0 + BLOCK_I; i++)
                    for (int j = j0; j < j0 + BLOCK_J; j++)
                        b[j][i] = a[i][j];
        double seconds = now() - start;
        if (seconds < best) best = seconds;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (b[j][i] != a[i][j]) return 67;
    printf("{\"time\": %.9f, \"bytes_per_s\": %.6g}\n", best, 2.0 * sizeof a / best);
    return 0;
}
