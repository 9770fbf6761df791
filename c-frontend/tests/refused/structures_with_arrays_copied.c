#include <stdio.h>
#define N 40
struct field { double at[N][N]; double time; };
static struct field now, next;

int main(void)
{
    for (int i = 0; i < N; i++) now.at[i][0] = next.at[i][0] = i;
    for (int step = 0; step < 50; step++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                next.at[i][j] = 0.25 * (now.at[i - 1][j] + now.at[i + 1][j] + now.at[i][j - 1] + now.at[i][j + 1]);
        now = next;
    }
    printf("%f\n", now.at[N / 2][N / 2]);
    return 0;
}
