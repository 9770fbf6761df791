/* Macros of the system's headers, inside and outside the region. */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "system_macros.h"

#ifndef N
#define N 60
#endif
#ifndef STEPS
#define STEPS 13
#endif
#define WAVE(i) (0.001 * (M_PI - (i)))
#define HALVES (7 / 2 * 0.5 - 010)
#define TURN(x) (INHERITED * (x) / RAND_MAX)

static double u[2][N];
static float w[2][N];

int main(void)
{
    bool used = true;
    double *nothing = NULL;
    if (nothing != NULL || !used || INT_MAX < 1) return EXIT_FAILURE;
    for (int i = 0; i < N; i++) {
        u[0][i] = u[1][i] = sin(M_PI * i / N) + TURN(i);
        w[0][i] = w[1][i] = i % 7 == 3 ? INFINITY : (float)(M_E * i);
    }
#pragma scop
    for (int t = 0; t < STEPS; t++) {
        for (int i = 1; i < N - 1; i++) {
            u[(t + 1) % 2][i] = WAVE(i) + 0.25 * (u[t % 2][i - 1] + u[t % 2][i + 1]) + M_PI * 1e-3 * u[t % 2][i]
                + (used ? DBL_EPSILON : HUGE_VAL) + (UINT_MAX - 4294967290u) * 1e-9 + FLT_MAX * 1e-45f + HALVES * 1e-3
                + (INT_MIN + 'a') * 1e-12 + -010 * 1e-4;
        }
        for (int i = 1; i < N - 1; i++) {
            if (isfinite(w[t % 2][i - 1]) && !isnan(w[t % 2][i + 1]))
                w[(t + 1) % 2][i] = 0.5f * (w[t % 2][i - 1] + w[t % 2][i]);
            else
                w[(t + 1) % 2][i] = isinf(w[t % 2][i + 1]) ? 1.0f / (t + 1) : fminf(w[t % 2][i + 1], INFINITY);
        }
    }
#pragma endscop
    for (int i = 0; i < N; i++)
        printf("%d %a %a %a %d\n", i, u[STEPS % 2][i], isfinite(w[0][i]) ? w[0][i] : -1.0, (double)w[1][i], __LINE__);
    printf("%s %d %g %d\n", __FILE__, __LINE__, M_PI, errno == ERANGE);
    return EXIT_SUCCESS;
}
