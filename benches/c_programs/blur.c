/* Blur of an image of three channels, edges clamped. */
#include <stdio.h>
#include <stdlib.h>
#define W 3000
#define H 2000
unsigned char img[H][W][3], out[H][W][3];
int clampi(int x, int lo, int hi) { return x < lo ? lo : (x > hi ? hi : x); }
int main() {
    unsigned s = 7; for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) for (int c = 0; c < 3; c++) { s = s * 1664525u + 1013904223u; img[y][x][c] = s >> 24; }
    for (int pass = 0; pass < 60; pass++) {
        for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) for (int c = 0; c < 3; c++) {
            int sum = 0;
            for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) sum += img[clampi(y + dy, 0, H - 1)][clampi(x + dx, 0, W - 1)][c];
            out[y][x][c] = sum / 9;
        }
        for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) for (int c = 0; c < 3; c++) img[y][x][c] = out[y][x][c];
    }
    unsigned h = 0; for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) for (int c = 0; c < 3; c++) h = h * 31 + img[y][x][c];
    printf("%u\n", h); return 0;
}
