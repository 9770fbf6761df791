/* Flow on a lattice of nine directions, which lie side by side in memory. */
#include <stdio.h>
#define WIDTH 90
#define HEIGHT 70
#define STEPS 8
static const int cx[9] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 }, cy[9] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
static const double w[9] = { 4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36 };
static double f[HEIGHT][WIDTH][9], g[HEIGHT][WIDTH][9];

static double equilibrium(int k, double rho, double ux, double uy)
{
    double c = cx[k] * ux + cy[k] * uy;
    return w[k] * rho * (1 + 3 * c + 4.5 * c * c - 1.5 * (ux * ux + uy * uy));
}

int main(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = 0; k < 9; k++)
                f[y][x][k] = g[y][x][k] = w[k] * (1 + 0.01 * ((x * 3 + y * 5) % 7));
    for (int t = 0; t < STEPS; t++) {
        for (int y = 1; y < HEIGHT - 1; y++)
            for (int x = 1; x < WIDTH - 1; x++) {
                double near[9], rho = 0, ux = 0, uy = 0;
                for (int k = 0; k < 9; k++) {
                    near[k] = f[y - cy[k]][x - cx[k]][k];
                    rho += near[k];
                    ux += cx[k] * near[k];
                    uy += cy[k] * near[k];
                }
                ux /= rho;
                uy /= rho;
                for (int k = 0; k < 9; k++)
                    g[y][x][k] = near[k] - 1.2 * (near[k] - equilibrium(k, rho, ux, uy));
            }
        for (int y = 1; y < HEIGHT - 1; y++)
            for (int x = 1; x < WIDTH - 1; x++)
                for (int k = 0; k < 9; k++)
                    f[y][x][k] = g[y][x][k];
    }
    for (int y = 0; y < HEIGHT; y += 7)
        for (int k = 0; k < 9; k++)
            printf("%a %a\n", f[y][y][k], g[y][y + 1][k]);
    return 0;
}
