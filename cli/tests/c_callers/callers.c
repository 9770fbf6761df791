/* Calls two versions of one stencil in every way that a caller may get wrong, and from several threads. */
#include "f32_heat2d.h"
#include "f64_heat2d.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int line, const char *call, long long found, long long expected)
{
    if (found == expected) return;
    printf("line %d: %s is %lld, not %lld\n", line, call, found, expected);
    failures = 1;
}

#define EXPECT(call, value) expect(__LINE__, #call, call, value)

enum { N0 = 61, N1 = 77, STEPS = 9 };

#define RUN32(u, n0, n1, s0, level, steps) f32_heat2d_run_strided(u, n0, n1, s0, level, steps, 0.125, 0.125)
#define DENSE32(u, n0, n1, steps) f32_heat2d_run(u, n0, n1, steps, 0.125, 0.125)

/* A new grid whose second slot holds nothing of use. */
static float *grid32(void)
{
    float *u = (float *)malloc(2 * N0 * N1 * sizeof *u);
    if (!u) exit(1);
    for (int x = 0; x < N0 * N1; ++x) u[x] = (float)(x % 17), u[N0 * N1 + x] = -1e30f;
    return u;
}

static double *grid64(void)
{
    double *u = (double *)malloc(2 * N0 * N1 * sizeof *u);
    if (!u) exit(1);
    for (int x = 0; x < N0 * N1; ++x) u[x] = x % 17, u[N0 * N1 + x] = -1e300;
    return u;
}

static void wrong_calls(void)
{
    const ptrdiff_t huge = PTRDIFF_MAX, large = (ptrdiff_t)1 << 40;
    const ptrdiff_t sizes[] = { -1, -huge, -huge - 1 };
    float *u = grid32();
    for (int k = 0; k < 3; ++k) {
        EXPECT(DENSE32(u, sizes[k], N1, 1), 2);
        EXPECT(DENSE32(u, N0, sizes[k], 1), 2);
        EXPECT(DENSE32(u, N0, N1, sizes[k]), 2);
        EXPECT(DENSE32(u, sizes[k], sizes[k], 1), 2);
        EXPECT(RUN32(u, N0, N1, sizes[k], N0 * N1, 1), 6);
        EXPECT(RUN32(u, N0, N1, N1, sizes[k], 1), 6);
        EXPECT(RUN32(u, N0, N1, sizes[k], sizes[k], 1), 6);
    }
    /* Grids that no memory holds, and whose strides would overflow. */
    EXPECT(DENSE32(u, large, large, 1), 2);
    EXPECT(DENSE32(u, huge, huge, 1), 2);
    EXPECT(DENSE32(u, huge, 1, 1), 2);
    EXPECT(DENSE32(u, 1, huge, 1), 2);
    EXPECT(DENSE32(u, N0, N1, huge), 2);
    EXPECT(RUN32(u, N0, N1, huge, huge, 1), 2);
    EXPECT(RUN32(u, N0, N1, N1, huge, 1), 2);
    EXPECT(RUN32(u, huge, 1, huge, huge, 1), 2);
    /* Rows and slots that overlap. */
    EXPECT(RUN32(u, N0, N1, N1 - 1, N0 * N1, 1), 6);
    EXPECT(RUN32(u, N0, N1, 0, N0 * N1, 1), 6);
    EXPECT(RUN32(u, N0, N1, N1, N0 * N1 - 1, 1), 6);
    EXPECT(RUN32(u, N0, N1, N1, 0, 1), 6);
    EXPECT(DENSE32(NULL, N0, N1, 1), 5);
    EXPECT(DENSE32(NULL, N0, N1, 0), 5);
    EXPECT(DENSE32((float *)(void *)((char *)u + 1), N0, N1, 1), 5);
    /* Where there is no point there is nothing to do, and nothing is looked at. */
    EXPECT(DENSE32(NULL, 0, N1, 5), 0);
    EXPECT(DENSE32(NULL, huge, 0, 5), 0);
    EXPECT(DENSE32(NULL, 0, huge, 5), 0);
    EXPECT(RUN32(NULL, 0, huge, -1, -1, 5), 0);

    void *fields[] = { u };
    const long long all[] = { N0, N1, N1, N0 * N1 };
    const double parameters[] = { 0.125, 0.125 };
    EXPECT(f32_heat2d_invoke(NULL, all, 1, parameters), 5);
    EXPECT(f32_heat2d_invoke(fields, NULL, 1, parameters), 5);
    EXPECT(f32_heat2d_invoke(fields, all, 1, NULL), 5);
    fields[0] = NULL;
    EXPECT(f32_heat2d_invoke(fields, all, 1, parameters), 5);

    /* None of these wrote anything. */
    float *untouched = grid32();
    EXPECT(memcmp(u, untouched, 2 * N0 * N1 * sizeof *u), 0);
    free(untouched);

    /* Grids that are too small for a stencil are all boundary; without steps nothing changes. */
    for (int n = 1; n <= 3; ++n) {
        float small[2 * 3 * 3] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
        EXPECT(DENSE32(small, n, n, 7), 0);
        const ptrdiff_t newest = f32_heat2d_slot_u(7);
        if (n < 3) EXPECT(memcmp(small + newest * n * n, (float[]){ 1, 2, 3, 4 }, (size_t)(n * n) * sizeof(float)), 0);
    }
    EXPECT(DENSE32(u, N0, N1, 0), 0);
    EXPECT(u[f32_heat2d_slot_u(0) * N0 * N1 + 5] == 5.0f, 1);
    free(u);
}

/* Levels that lie anywhere, and rows that collide in the caches (4 KiB apart): the values of dense arrays, in both slots. */
static void other_layouts(void)
{
    enum { APART = 1024 };
    for (ptrdiff_t steps = 0; steps < 9; ++steps) {
        float *dense = grid32(), *levels[2], *whole = (float *)malloc(2 * N0 * APART * sizeof *whole);
        for (int slot = 0; slot < 2; ++slot) {
            levels[slot] = (float *)malloc(N0 * APART * sizeof *whole);
            if (!levels[slot] || !whole) exit(1);
            for (int x = 0; x < N0 * APART; ++x) {
                const int point = x / APART * N1 + x % APART;
                const float value = x % APART < N1 ? dense[slot * N0 * N1 + point] : 7;
                levels[slot][x] = whole[slot * N0 * APART + x] = value;
            }
        }
        EXPECT(DENSE32(dense, N0, N1, steps), 0);
        EXPECT(RUN32(whole, N0, N1, APART, N0 * APART, steps), 0);
        EXPECT(f32_heat2d_run_levels(levels, N0, N1, APART, steps, 0.125, 0.125), 0);
        int differ = 0;
        for (int slot = 0; slot < 2; ++slot) {
            for (int x = 0; x < N0 * APART; ++x) {
                const int point = x / APART * N1 + x % APART;
                const float value = x % APART < N1 ? dense[slot * N0 * N1 + point] : 7;
                differ += levels[slot][x] != value || whole[slot * N0 * APART + x] != value;
            }
            free(levels[slot]);
        }
        EXPECT(differ, 0);
        free(dense);
        free(whole);
    }
}

#define LEVELS32(u, n0, n1, s0, steps) f32_heat2d_run_levels(u, n0, n1, s0, steps, 0.125, 0.125)

static void wrong_levels(void)
{
    float *u = grid32(), *v = grid32(), *untouched = grid32();
    float *levels[2] = { u, NULL };
    EXPECT(LEVELS32(NULL, N0, N1, N1, 1), 5);
    EXPECT(LEVELS32(levels, N0, N1, N1, 1), 5);
    levels[1] = (float *)(void *)((char *)v + 1);
    EXPECT(LEVELS32(levels, N0, N1, N1, 1), 5);
    /* The same array, and others that have one point in common. */
    float *const common[] = { u, u + 1, u + N0 * N1 - 1 };
    for (int k = 0; k < 3; ++k) {
        levels[1] = common[k];
        EXPECT(LEVELS32(levels, N0, N1, N1, 1), 7);
        float *const turned[2] = { common[k], u };
        EXPECT(LEVELS32(turned, N0, N1, N1, 1), 7);
    }
    levels[1] = v;
    EXPECT(LEVELS32(levels, N0, N1, N1 - 1, 1), 6);
    EXPECT(LEVELS32(levels, N0, N1, -1, 1), 6);
    EXPECT(LEVELS32(levels, -1, N1, N1, 1), 2);
    EXPECT(LEVELS32(levels, N0, N1, N1, -1), 2);
    EXPECT(LEVELS32(levels, N0, N1, PTRDIFF_MAX, 1), 2);
    EXPECT(LEVELS32(NULL, 0, N1, -1, 5), 0);
    EXPECT(memcmp(u, untouched, 2 * N0 * N1 * sizeof *u), 0);
    EXPECT(memcmp(v, untouched, 2 * N0 * N1 * sizeof *u), 0);
    /* Right behind each other they are apart. */
    levels[1] = u + N0 * N1;
    EXPECT(LEVELS32(levels, N0, N1, N1, 1), 0);
    free(u);
    free(v);
    free(untouched);
}

static float *expected32;
static double *expected64;

/* Several calls, each on a grid of its own, all with the same result. */
static void *calls(void *unused)
{
    (void)unused;
    for (int repeat = 0; repeat < 3; ++repeat) {
        float *u = grid32();
        double *v = grid64();
        const int status = DENSE32(u, N0, N1, STEPS) | f64_heat2d_run(v, N0, N1, STEPS, 0.125, 0.125);
        const size_t points = N0 * N1;
        const int differ = memcmp(u + (size_t)f32_heat2d_slot_u(STEPS) * points, expected32, points * sizeof *u) != 0
            || memcmp(v + (size_t)f64_heat2d_slot_u(STEPS) * points, expected64, points * sizeof *v) != 0;
        free(u);
        free(v);
        if (status || differ) return "a call from a thread";
    }
    return NULL;
}

int main(void)
{
    wrong_calls();
    wrong_levels();
    other_layouts();
    float *u = grid32();
    double *v = grid64();
    EXPECT(DENSE32(u, N0, N1, STEPS), 0);
    EXPECT(f64_heat2d_run(v, N0, N1, STEPS, 0.125, 0.125), 0);
    expected32 = u + (size_t)f32_heat2d_slot_u(STEPS) * N0 * N1;
    expected64 = v + (size_t)f64_heat2d_slot_u(STEPS) * N0 * N1;
    EXPECT(expected32[N1 + 1] != (float)expected64[N1 + 1] || expected32[N1 + 1] > 0, 1);

    pthread_t threads[2];
    for (int k = 0; k < 2; ++k) EXPECT(pthread_create(&threads[k], NULL, calls, NULL), 0);
    for (int k = 0; k < 2; ++k) {
        void *problem = NULL;
        EXPECT(pthread_join(threads[k], &problem), 0);
        EXPECT(problem == NULL, 1);
    }
    int inside = 0;
#pragma omp parallel for reduction(+ : inside)
    for (int k = 0; k < 4; ++k) inside += calls(NULL) != NULL;
    EXPECT(inside, 0);
    free(u);
    free(v);
    return failures;
}
