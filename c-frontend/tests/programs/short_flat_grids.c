/* Flat arrays whose places are computed first, of rows as short as loops that are written out; a test that begins with zeros in a chain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define NX 31
#define NY 29
int main(void)
{
    double *u = malloc(NX * NY * sizeof *u), *v = malloc(NX * NY * sizeof *v), most, own;
    int rounds = 0;
    for (unsigned int iy = 0; iy < NY; iy++)
        for (unsigned int ix = 0; ix < NX; ix++) {
            int at = ix + iy * NX;
            u[at] = v[at] = (ix * 7 + iy * 3) % 11;
        }
    for (unsigned int it = 0; it < 30; it++) {
        for (unsigned int iy = 1; iy < NY - 1; iy++)
            for (unsigned int ix = 1; ix < NX - 1; ix++) {
                int at = ix + iy * NX;
                v[at] = 0.2 * (u[at] + u[(ix + 1) + iy * NX] + u[(ix - 1) + iy * NX] + u[ix + (iy + 1) * NX] + u[ix + (iy - 1) * NX]);
            }
        for (unsigned int iy = 0; iy < NY; iy++)
            for (unsigned int ix = 0; ix < NX; ix++) {
                int at = ix + iy * NX;
                u[at] = v[at];
            }
    }
    do {
        most = own = 0.0;
        for (int i = 1; i < NY - 1; i++)
            for (int j = 1; j < NX - 1; j++) {
                double old = u[i * NX + j];
                u[i * NX + j] = 0.25 * (u[(i - 1) * NX + j] + u[(i + 1) * NX + j] + u[i * NX + j - 1] + u[i * NX + j + 1]);
                own = fabs(u[i * NX + j] - old);
                if (most < own) most = own;
            }
        rounds++;
    } while (most > 1e-2);
    printf("%d\n", rounds);
    for (int at = 0; at < NX * NY; at++) printf("%a %a\n", u[at], v[at]);
    free(u);
    free(v);
    return 0;
}
