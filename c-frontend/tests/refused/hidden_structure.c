#include <stdlib.h>
struct field { double *at; };
#define GET(f, i, j) ((f)->at[n * (i) + (j)])
struct field u, v;
void f(int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                GET(&v, i, j) = 0.25 * (GET(&u, i - 1, j) + GET(&u, i + 1, j));
        for (int i = 1; i < n - 1; i++) {
            struct field u = v;
            for (int j = 1; j < n - 1; j++)
                GET(&u, i, j) *= 0.5;
        }
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                GET(&u, i, j) = GET(&v, i, j);
    }
}
