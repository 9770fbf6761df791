#!/bin/sh
# A C program, tiled where it stands
#
# The loop between `#pragma scop` and `#pragma endscop` is replaced by tiled code; the rest of the program stays as it is,
# and so does what it prints. `compile` writes a Makefile beside it; `check` builds both forms and compares all that they do.
set -eu

cat >plate.c <<'END'
#include <stdio.h>
#define N 400
#define STEPS 100
static double u[2][N][N];

int main(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            u[0][i][j] = u[1][i][j] = (i * 7 + j * 3) % 11 == 0;
#pragma scop
    for (int t = 0; t < STEPS; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                u[(t + 1) % 2][i][j] = u[t % 2][i][j] + 0.2 * (u[t % 2][i - 1][j] + u[t % 2][i + 1][j]
                    + u[t % 2][i][j - 1] + u[t % 2][i][j + 1] - 4 * u[t % 2][i][j]);
#pragma endscop
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += u[STEPS % 2][i][j] * (i + 2 * j);
    printf("%.17g\n", sum);
    return 0;
}
END

tilewright compile plate.c --target openmp -o tiled
make -C tiled >make.log
${CC:-cc} -O2 plate.c -o plate
./plate >plain.txt
./tiled/plate >tiled.txt
cmp plain.txt tiled.txt
echo "both print $(cat tiled.txt)"
tilewright convert plate.c -o plate.stencil
tilewright analyze plate.stencil --tile st=4,s0=8,s1=16 --svg c_program.svg
