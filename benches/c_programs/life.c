/* Life on a torus, by switch. */
#include <stdio.h>
#include <stdlib.h>
#define NX 4000
#define NY 4000
int world[NX][NY], next[NX][NY];
int wrap(int i, int n) { if (i < 0) return i + n; if (i >= n) return i - n; return i; }
int main(void) {
    unsigned s = 12345; int gen, i, j;
    for (i = 0; i < NX; i++) for (j = 0; j < NY; j++) { s = s * 1103515245u + 12345u; world[i][j] = (s >> 16) & 1; }
    for (gen = 0; gen < 100; gen++) {
        for (i = 0; i < NX; i++)
            for (j = 0; j < NY; j++) {
                int c = 0, di, dj;
                for (di = -1; di <= 1; di++) for (dj = -1; dj <= 1; dj++)
                    if (di || dj) c += world[wrap(i + di, NX)][wrap(j + dj, NY)];
                switch (c) { case 2: next[i][j] = world[i][j]; break; case 3: next[i][j] = 1; break; default: next[i][j] = 0; break; }
            }
        for (i = 0; i < NX; i++) for (j = 0; j < NY; j++) world[i][j] = next[i][j];
    }
    int alive = 0; long h = 0; for (i = 0; i < NX; i++) for (j = 0; j < NY; j++) { alive += world[i][j]; h = h * 31 + world[i][j]; h %= 1000003; }
    printf("%d %ld\n", alive, h); return 0;
}
