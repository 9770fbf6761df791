/* Gray and Scott: two fields in flattened arrays that take turns; indices modulo the extents, with names. */
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 61, m = n + 10, steps = argc > 2 ? atoi(argv[2]) : 40;
    float *u = malloc(sizeof(float) * n * m), *v = malloc(sizeof(float) * n * m);
    float *un = malloc(sizeof(float) * n * m), *vn = malloc(sizeof(float) * n * m);
    for (int i = 0; i < n * m; i++) { u[i] = 1 - i % 11 / 30.0f; v[i] = i % 7 / 20.0f; un[i] = vn[i] = 0; }
    const float du = 0.16f, dv = 0.08f, f = 0.035f, k = 0.065f;
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++) {
            int ip = (i + 1) % n;
            int im = (i - 1 + n) % n;
            for (int j = 0; j < m; j++) {
                int jp = (j + 1) % m, jm = (j + m - 1) % m;
                float lu = u[ip * m + j] + u[im * m + j] + u[i * m + jp] + u[i * m + jm] - 4 * u[i * m + j];
                float lv = v[ip * m + j] + v[im * m + j] + v[i * m + jp] + v[i * m + jm] - 4 * v[i * m + j];
                float w = u[i * m + j] * v[i * m + j] * v[i * m + j];
                un[i * m + j] = u[i * m + j] + du * lu - w + f * (1 - u[i * m + j]);
                vn[i * m + j] = v[i * m + j] + dv * lv + w - (f + k) * v[i * m + j];
            }
        }
        float *x = u; u = un; un = x;
        x = v; v = vn; vn = x;
    }
    double s = 0;
    for (int i = 0; i < n * m; i++) s = s * 0.9999 + u[i] - v[i];
    printf("%a %a\n", s, u[0]);
    free(u); free(v); free(un); free(vn);
    return 0;
}
