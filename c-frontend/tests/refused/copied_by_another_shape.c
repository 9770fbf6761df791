/* Rows of 30 elements are copied to rows of 20. */
#include <string.h>

static double a[20][30], b[30][20];

int main(void) {
    for (int t = 0; t < 20; t++) {
        memcpy(a, b, sizeof a);
        for (int i = 1; i < 19; i++)
            for (int j = 1; j < 19; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    }
    return b[5][5] > 0;
}
