/* Each level is the member of a structure, in an array of structures. */
#include <stdlib.h>
typedef struct {
    float *values;
} Level;
static void next(Level *levels, int n, int m, int t)
{
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            levels[t].values[i * m + j] = 0.25f
                                          * (levels[t - 1].values[(i + 1) * m + j] + levels[t - 1].values[(i - 1) * m + j]
                                             + levels[t - 1].values[i * m + j + 1] + levels[t - 1].values[i * m + j - 1]);
}
void all(Level *levels, int n, int m, int steps)
{
    for (int t = 1; t < steps; t++) next(levels, n, m, t);
}
