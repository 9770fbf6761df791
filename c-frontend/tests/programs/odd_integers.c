/* Integers that wrap, shrink and change their sign, in values and in bounds. */
#include <stdint.h>
#include <stdio.h>

#ifndef N
#define N 48
#endif
#ifndef STEPS
#define STEPS 11
#endif
static float a[3][N], b[3][N];

int main(void)
{
    unsigned steps = STEPS;
    int reach = 1;
    const long wide = 4294967300L;
    for (int i = 0; i < N; i++) a[0][i] = a[1][i] = a[2][i] = b[0][i] = b[1][i] = b[2][i] = 0.1f * i;
    int t, i;
    /* Macros with their own names in them, or with those of types, must not be expanded again. */
#define reach (reach + 1)
#define float float
#define int int
#pragma scop
    for (t = 0; t < steps; t++) {
        for (i = reach; i < N - reach; i++) {
            unsigned char low = i * 37;
            unsigned wrapped = i - 20;
            _Bool some = i & 6;
            short small = (short)(i * 3000);
            float shrunk = (unsigned char)300 * 0.5f + (0xffffffff + 2) + -1u / 3 * 1e-9f;
            a[(t + 1) % 3][i] = 0.3f * (a[t % 3][i - 1] + a[t % 3][i] + a[t % 3][i + 1]) + low * 1e-3f + wrapped * 1e-12
                + some * 0.01f + small * 1e-6 + shrunk * 1e-3f + (i / 2 * 2 == i) * 1e-4f + (-7 / 2 + -7 % 4) * 1e-5f;
            b[(t + 1) % 3][i] = b[t % 3][i] * (1 - 0.01f * (t / 2)) + 1e-3f * (float)(int)(wide - 4294967290L + i)
                + 1e-4f * (~i & 15) + (5u > -i ? 1e-3f : 2e-3f) + (1 << 3) * 0x1p-12f + 1e-3 * (3 - i % 5 >> 1);
        }
    }
#pragma endscop
    for (int k = 0; k < N; k++) printf("%a %a %a %a\n", a[STEPS % 3][k], b[STEPS % 3][k], a[0][k], b[2][k]);
    printf("%d %d %d\n", t, i, __LINE__);
    return t % 200;
}
