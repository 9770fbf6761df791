/* Structures whose names stand for numbers in blocks of a step: in what is printed now and then, in loops, and in the sweep. */
#include <stdio.h>
#include <stdlib.h>
struct field { int nx, ny; double *at; };
#define GET(f, i, j) ((f)->at[(f)->nx * (j) + (i)])
static void make(struct field *f, int nx, int ny)
{
    f->nx = nx;
    f->ny = ny;
    f->at = malloc((size_t)nx * ny * sizeof(double));
    for (int i = 0; i < nx * ny; i++)
        f->at[i] = i % 7 * 0.25;
}
int main(void)
{
    int nx = 41, ny = 33;
    struct field eta, u;
    make(&eta, nx, ny);
    make(&u, nx + 1, ny);
    for (int n = 0; n < 21; n++) {
        if (n && n % 6 == 0) {
            double eta = n * 0.5;
            printf("%a\n", eta);
        }
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                GET(&eta, i, j) -= 0.1 * (GET(&u, i + 1, j) - GET(&u, i, j));
        for (int j = 0; j < ny; j++)
            for (int i = 1; i < nx; i++) {
                double slope = GET(&eta, i, j) - GET(&eta, i - 1, j);
                {
                    double eta = 0.1 * slope;
                    GET(&u, i, j) = 0.9 * GET(&u, i, j) - eta;
                }
            }
    }
    double sum = 0;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            printf("%a %a\n", GET(&eta, i, j), GET(&u, i, j));
            sum += GET(&eta, i, j);
        }
    printf("%a\n", sum);
    return 0;
}
