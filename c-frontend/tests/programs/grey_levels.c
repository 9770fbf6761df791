/* Integers of all types: unsigned ones wrap, quotients go towards zero, what is stored is cut to its type. */
#include <stdint.h>
#include <stdio.h>
#define H 19
#define W 34
static uint8_t grey[H][W], blurred[H][W];
static unsigned hash[H][W], mixed[H][W];
static short low[H][W], lower[H][W];
static signed char wave[2][H][W];
static double slope[H][W], flat[H][W];
int main(void)
{
    const int parts = 16;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            grey[y][x] = (uint8_t)(x * 7 + y * 13);
            hash[y][x] = x * 2654435761u + y;
            low[y][x] = (short)(x * y * 91 - 3000);
            wave[0][y][x] = wave[1][y][x] = (signed char)(x * 5 - y);
        }
    for (int t = 0; t < 11; t++) {
        for (int y = 1; y < H - 1; y++)
            for (int x = 1; x < W - 1; x++) {
                int sum = grey[y - 1][x] + grey[y + 1][x] + 4 * grey[y][x] + 5 * grey[y][x - 1] + 6 * grey[y][x + 1];
                blurred[y][x] = sum / parts;
                mixed[y][x] = hash[y][x - 1] - 3u * hash[y][x + 1] + (hash[y - 1][x] >> 3) + (hash[y + 1][x] & 0xff00u);
                short least = low[y][x];
                if (low[y][x - 1] < least) least = low[y][x - 1];
                if (low[y][x + 1] < least) least = low[y][x + 1];
                lower[y][x] = least / 2 + low[y - 1][x] % 3;
                /* Integers have one zero, also where numbers are cut, divided and multiplied. */
                int cut = low[y][x] * 1e-5, part = low[y][x + 1] / 9000, product = (low[y][x] / 2000) * (low[y][x - 1] / 900);
                slope[y][x] = cut * 0.5 + part * 0.25 + product * 0.125;
                flat[y][x] = -(double)cut - (double)part + abs(hash[y][x] - hash[y][x + 1]) * 1e-9;
                wave[(t + 1) % 2][y][x] = wave[t % 2][y][x] + wave[t % 2][y][x - 1] * 2 - wave[t % 2][y + 1][x];
            }
        for (int y = 1; y < H - 1; y++)
            for (int x = 1; x < W - 1; x++) {
                grey[y][x] = ~blurred[y][x];
                hash[y][x] = mixed[y][x] > 77u ? mixed[y][x] % 1000003u * 3u : (unsigned)-low[y][x];
                low[y][x] = lower[y][x] + (short)(0.25f * grey[y][x]);
            }
    }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            printf("%d %u %d %d %a %a\n", grey[y][x], hash[y][x], low[y][x], wave[1][y][x], slope[y][x], flat[y][x]);
    return 0;
}
