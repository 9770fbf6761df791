/* Names that mean something else in the stencil language or in generated code. */
#include <stdio.h>
enum { N = 31 };
static double field[2][N], coefficient[N], series[9];

int main(void)
{
    const double boundary = 0.25, n0 = 0.5;
    double param = 1.5;
    for (int i = 0; i < N; i++) {
        field[0][i] = field[1][i] = i % 6;
        coefficient[i] = 1.0 / (i + 1);
    }
    for (int i = 0; i < 9; i++) series[i] = 0.125 * i;
#pragma scop
    for (int steps = 0; steps < 9; steps++)
        for (int let = 1; let < N - 1; let++) {
            double stencil = field[steps % 2][let - 1] + field[steps % 2][let + 1];
            field[(steps + 1) % 2][let] = boundary * stencil * coefficient[let] + n0 * param + series[steps] + steps * 0.5;
        }
#pragma endscop
    for (int i = 0; i < N; i++) printf("%a %a\n", field[0][i], field[1][i]);
    return 0;
}
