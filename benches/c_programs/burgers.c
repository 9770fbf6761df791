/* Burgers' equation in two dimensions, with rows of pointers and copies in each step. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <time.h>
static double **alloc2(int n, int m) { double **a = (double **)malloc(n * sizeof(double *)); a[0] = (double *)malloc(n * m * sizeof(double)); for (int i = 1; i < n; i++) a[i] = a[0] + i * m; return a; }
int main(int argc, char *argv[]) {
    int nx = 3000, ny = 3000, nt = 100; double dx = 1.0 / nx, dt = 0.2 * dx * dx, nu = 0.05, c = 1;
    if (argc > 1) nx = atoi(argv[1]);
    double **u = alloc2(nx, ny), **v = alloc2(nx, ny), **un = alloc2(nx, ny), **vn = alloc2(nx, ny);
    for (int i = 0; i < nx; i++) for (int j = 0; j < ny; j++) { u[i][j] = v[i][j] = 1; if (i > nx/4 && i < nx/2 && j > ny/4 && j < ny/2) u[i][j] = v[i][j] = 2; }
    clock_t t0 = clock();
    for (int n = 0; n <= nt; n++) {
        for (int i = 0; i < nx; i++) for (int j = 0; j < ny; j++) { un[i][j] = u[i][j]; vn[i][j] = v[i][j]; }
        for (int i = 1; i < nx - 1; i++)
            for (int j = 1; j < ny - 1; j++) {
                u[i][j] = un[i][j] - dt/dx * un[i][j] * (un[i][j] - un[i-1][j]) - dt/dx * vn[i][j] * (un[i][j] - un[i][j-1])
                    + nu*dt/(dx*dx) * (un[i+1][j] - 2*un[i][j] + un[i-1][j]) + nu*dt/(dx*dx) * (un[i][j+1] - 2*un[i][j] + un[i][j-1]);
                v[i][j] = vn[i][j] - dt/dx * un[i][j] * (vn[i][j] - vn[i-1][j]) - dt/dx * vn[i][j] * (vn[i][j] - vn[i][j-1])
                    + nu*dt/(dx*dx) * (vn[i+1][j] - 2*vn[i][j] + vn[i-1][j]) + nu*dt/(dx*dx) * (vn[i][j+1] - 2*vn[i][j] + vn[i][j-1]);
            }
        for (int j = 0; j < ny; j++) { u[0][j] = 1; u[nx-1][j] = 1; v[0][j] = 1; v[nx-1][j] = 1; }
        for (int i = 0; i < nx; i++) { u[i][0] = 1; u[i][ny-1] = 1; v[i][0] = 1; v[i][ny-1] = 1; }
    }
    fprintf(stderr, "time %g\n", (double)(clock() - t0) / CLOCKS_PER_SEC);
    double s = 0; for (int i = 0; i < nx; i++) for (int j = 0; j < ny; j++) s += u[i][j] * (i + 1) + v[i][j] * (j + 1);
    printf("%.17g %d\n", s, (int)c); return 0;
}
