#include "accessors.h"
void f(struct field *u, struct field *v, int n, int steps)
{
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                set(v, i, j, get(u, i - 1, j) + get(u, i * i, j));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                set(u, i, j, get(v, i, j));
    }
}
