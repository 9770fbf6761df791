/* break on a maximum of float values, a sum at the end, numbers of buffers. */
#include <stdio.h>
#include <math.h>
#define N 50
static float u[2][N][N];
int main(void)
{
    int it, i, j, cur = 0;
    float worst;
    double sum = 0;
    for (i = 0; i < N; i++) for (j = 0; j < N; j++) u[0][i][j] = u[1][i][j] = (i * j) % 17;
#pragma scop
    for (it = 0; it < 1000; it++) {
        worst = 0.0f; sum = 0.0;
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < N - 1; j++) {
                float next = 0.25f * (u[cur][i - 1][j] + u[cur][i + 1][j] + u[cur][i][j - 1] + u[cur][i][j + 1]);
                float d = next - u[cur][i][j];
                u[1 - cur][i][j] = next;
                if (d < 0) d = -d;
                if (d > worst) worst = d;
                sum += d * d;
            }
        cur = 1 - cur;
        if (worst < 0.05f) {
            printf("converged after %d\n", it);
            break;
        }
        if ((it + 1) % 25 == 0) printf("%d %a %a\n", it, worst, sum);
    }
#pragma endscop
    printf("%d %a %a %d\n", it, worst, sum, cur);
    for (i = 0; i < N; i++) printf("%a %a\n", u[0][i][3], u[1][i][3]);
    return 0;
}
