/* What loops leave in their indices. Those that each step declares, in its body or in a block of it, and that hide variables of
   the file or of the function, also of another type, leave these as they are; of several loops the last one counts; and one that
   counts down without a round leaves what it begins with. */
#include <stdio.h>
#define N 23
#define M 29
static double u[N][M], v[N][M], a[M], b[M];
static int i = 5, j = 7, k = 9;

int main(void)
{
    unsigned at = 77, by = 3;
    for (int x = 0; x < N; x++)
        for (int y = 0; y < M; y++) u[x][y] = v[x][y] = (x * 7 + y * 13) % 17 * 0.5;
    for (int x = 0; x < M; x++) a[x] = b[x] = x % 7;
    for (int t = 0; t < 9; t++) {
        int i, j;
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++)
                v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
        for (i = 1; i < N - 1; i++)
            for (j = 1; j < M - 1; j++) u[i][j] = v[i][j];
    }
    for (int t = 0; t < 11; t++) {
        int at, by;
        for (at = 1; at < M - 1; at++) {
            b[at] = 0;
            for (by = -1; by <= 1; by++) b[at] += a[at + by] * (at - 9 < 0 ? 0.25 : 0.5) + by / 2;
        }
        for (at = M - 2; at > 0; at--) a[at] = b[at] * 0.5;
    }
    for (int t = 0; t < 7; t++) {
        for (k = 1; k < M - 1; k++) b[k] = a[k - 1] + 0.1 * a[k + 1];
        {
            int k;
            for (k = 1; k < M / 2; k++) a[k] = b[k] * 0.5;
        }
    }
    printf("%d %d %d %u %u\n", i, j, k, at, by);
    for (int t = 0; t < 5; t++) {
        for (i = 1; i < M - 1; i++) {
            double sum = 0;
            for (k = 0; k < 3; k++) sum += k;
            for (j = 0; j > 5; j--) sum += j;
            b[i] = 0.5 * (a[i - 1] + a[i + 1]) + sum;
        }
        for (k = 1; k < M - 2; k++) a[k] = b[k] * 0.5;
    }
    printf("%d %d %d\n", i, j, k);
    for (int x = 0; x < N; x++)
        for (int y = 0; y < M; y++) printf("%a %a %a %a\n", u[x][y], v[x][y], a[y], b[y]);
    return 0;
}
