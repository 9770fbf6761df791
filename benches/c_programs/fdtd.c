/* Maxwell's equations in the plane: three fields computed in place. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#define NX 3000
#define NY 3000
static double ex[NX][NY], ey[NX][NY], hz[NX][NY];
int main(void) {
    for (int i = 0; i < NX; i++) for (int j = 0; j < NY; j++) { ex[i][j] = i * (j + 1.0) / NX; ey[i][j] = i * (j + 2.0) / NY; hz[i][j] = i * (j + 3.0) / NX; }
    for (int t = 0; t < 100; t++) {
        for (int j = 0; j < NY; j++) ey[0][j] = t;
        for (int i = 1; i < NX; i++) for (int j = 0; j < NY; j++) ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int i = 0; i < NX; i++) for (int j = 1; j < NY; j++) ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int i = 0; i < NX - 1; i++) for (int j = 0; j < NY - 1; j++) hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
    double s = 0; for (int i = 0; i < NX; i += 7) for (int j = 0; j < NY; j += 5) s += hz[i][j]; printf("%.17g\n", s); return 0;
}
