// Flags that decide what happens at the first point alone are no tests that all points share; colours that an unsigned number
// asks for, or the loop's end.
#include <math.h>
#include <stdio.h>
#define N 40

double u[N][N], v[N][N];

static void show(int step, int hit)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += u[i][j] * (i + 0.1 * j);
    printf("%d %d %a %a\n", step, hit, sum, u[7][9]);
}

int main(void)
{
    int step, hit = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) u[i][j] = v[i][j] = (i * 7 + j * 3) % 11;
    // The first point above 1 alone is cut.
    for (step = 0; step < 60 && hit; step++) {
        hit = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                if (!hit && v[i][j] > 5) {
                    hit = 1;
                    v[i][j] = 0.5;
                }
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
    }
    show(step, hit);
    // All others are.
    for (step = 0, hit = 1; step < 30 && hit; step++) {
        hit = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                if (hit == 0 && v[i][j] > 3) hit = 1;
                else v[i][j] *= 0.99;
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
    }
    show(step, hit);
    // Nothing but the flag: these steps run together.
    for (step = 0, hit = 1; step < 90 && hit; step++) {
        hit = 0;
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
                if (!hit) {
                    if (fabs(v[i][j] - u[i][j]) > 0.02) hit = 1;
                }
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) u[i][j] = v[i][j];
    }
    show(step, hit);
    // Of an unsigned 0, 1 less is large.
    for (step = 0; step < 9; step++)
        for (unsigned colour = 0; colour < 2; colour++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2)
                    u[i][j] = (colour - 1 > 5 ? 0.25 : 0.2) * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
    show(step, hit);
    // The loop asks for what colours leave behind.
    int colour;
    step = 0;
    do {
        for (colour = 0; colour < 2; colour++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1 + (i + colour) % 2; j < N - 1; j += 2)
                    u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        step++;
    } while (colour == 2 && step < 9);
    show(step, hit);
    return 0;
}
