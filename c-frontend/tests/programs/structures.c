/* Arrays of structures: members that are computed, copied as a whole, read only, and behind pointers that take turns. */
#include <stdio.h>
#include <stdlib.h>
#define N 18
#define M 29
struct water { double h, u; float v[2]; };
struct site { int kind; float weight; };
static struct water now[N][M], then[N][M];
static struct site *here, *there;
int main(void)
{
    here = calloc(N * M, sizeof *here);
    there = calloc(N * M, sizeof *there);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            now[i][j].h = 1 + (i * j) % 5 * 0.1;
            now[i][j].u = now[i][j].v[0] = now[i][j].v[1] = (i + 2 * j) % 7 * 0.01f;
            then[i][j] = now[i][j];
            here[i * M + j].kind = there[i * M + j].kind = (i + j) % 3;
            here[i * M + j].weight = there[i * M + j].weight = 0.1f * (i % 4);
        }
    for (int t = 0; t < 13; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                then[i][j].h = 0.25 * (now[i - 1][j].h + now[i + 1][j].h + now[i][j - 1].h + now[i][j + 1].h)
                    - 0.01 * (now[i + 1][j].u - now[i - 1][j].v[1]);
                then[i][j].u = 0.9 * now[i][j].u - 0.02 * (now[i][j + 1].h - now[i][j - 1].h);
                then[i][j].v[0] = now[i][j].v[1];
                then[i][j].v[1] = 0.5f * (now[i][j - 1].v[0] + now[i][j].v[1]);
                there[i * M + j].kind = (here[i * M + j - 1].kind + here[(i + 1) * M + j].kind) % 5;
                there[i * M + j].weight = here[i * M + j].weight * 0.5f + here[i * M + j].kind;
            }
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < M - 1; j++) {
                now[i][j].h = then[i][j].h;
                now[i][j].u = then[i][j].u;
                now[i][j].v[0] = then[i][j].v[0];
                now[i][j].v[1] = then[i][j].v[1];
            }
        struct site *old = here;
        here = there;
        there = old;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            printf("%a %a %a %a %d %a\n", now[i][j].h, now[i][j].u, now[i][j].v[0], now[i][j].v[1], here[i * M + j].kind, here[i * M + j].weight);
    return 0;
}
