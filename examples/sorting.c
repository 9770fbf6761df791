/* Three ways to sort, for `sorting.toml`:
 *
 *     sorting VARIANT "N KIND"     sorts N numbers and prints {"seconds": ...}
 *     sorting features "N KIND"    prints {"n": ..., "descents": ..., "seconds": ...}
 *
 * KIND is random, sorted, reversed or nearly (sorted but for a few). A wrong result ends with exit code 67.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static unsigned next_number(unsigned *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void insertion(unsigned *keys, unsigned *spare, long n)
{
    (void)spare;
    for (long end = 1; end < n; ++end) {
        unsigned key = keys[end];
        long at = end;
        for (; at > 0 && keys[at - 1] > key; --at) {
            keys[at] = keys[at - 1];
        }
        keys[at] = key;
    }
}

static void merge(unsigned *keys, unsigned *spare, long n)
{
    if (n < 2) {
        return;
    }
    long half = n / 2;
    merge(keys, spare, half);
    merge(keys + half, spare, n - half);
    /* Two halves in order need no more. */
    if (keys[half - 1] <= keys[half]) {
        return;
    }
    memcpy(spare, keys, (size_t)half * sizeof *keys);
    long left = 0, right = half, to = 0;
    while (left < half && right < n) {
        keys[to++] = spare[left] <= keys[right] ? spare[left++] : keys[right++];
    }
    while (left < half) {
        keys[to++] = spare[left++];
    }
}

static void radix(unsigned *keys, unsigned *spare, long n)
{
    for (int shift = 0; shift < 32; shift += 8) {
        long places[257] = {0};
        for (long at = 0; at < n; ++at) {
            ++places[(keys[at] >> shift & 255u) + 1];
        }
        for (int digit = 0; digit < 256; ++digit) {
            places[digit + 1] += places[digit];
        }
        for (long at = 0; at < n; ++at) {
            spare[places[keys[at] >> shift & 255u]++] = keys[at];
        }
        unsigned *other = keys;
        keys = spare;
        spare = other;
    }
}

static void fill(unsigned *keys, long n, const char *kind)
{
    unsigned state = 2463534242u;
    for (long at = 0; at < n; ++at) {
        int random = strcmp(kind, "random") == 0 || (strcmp(kind, "nearly") == 0 && at % 50 == 0);
        unsigned drawn = next_number(&state);
        long place = strcmp(kind, "reversed") == 0 ? n - at : at;
        keys[at] = random ? drawn : (unsigned)place * 97u;
    }
}

int main(int count, char **arguments)
{
    char kind[16];
    long n;
    if (count != 3 || sscanf(arguments[2], "%ld %15s", &n, kind) != 2 || n < 1 || n > 100000000) {
        fprintf(stderr, "usage: sorting merge|insertion|radix|features \"N random|sorted|reversed|nearly\"\n");
        return 65;
    }
    unsigned *keys = malloc((size_t)n * sizeof *keys), *spare = malloc((size_t)n * sizeof *spare);
    if (!keys || !spare) {
        return 1;
    }
    fill(keys, n, kind);
    if (strcmp(arguments[1], "features") == 0) {
        /* A hundred neighbours say enough about the order. */
        double start = now();
        long step = n / 100 + 1, seen = 0, descents = 0;
        for (long at = 1; at < n; at += step, ++seen) {
            descents += keys[at - 1] > keys[at];
        }
        double took = now() - start, share = seen ? (double)descents / (double)seen : 0.0;
        printf("{\"n\": %ld, \"descents\": %.4f, \"seconds\": %.9f}\n", n, share, took);
        return 0;
    }
    void (*sort)(unsigned *, unsigned *, long) = 0;
    sort = strcmp(arguments[1], "merge") == 0       ? merge
           : strcmp(arguments[1], "insertion") == 0 ? insertion
           : strcmp(arguments[1], "radix") == 0     ? radix
                                                    : 0;
    if (!sort) {
        return 65;
    }
    double least = 1e300;
    /* The least of several times, since short ones are disturbed easily. */
    for (int round = 0; round < (n < 5000 ? 20 : 3); ++round) {
        fill(keys, n, kind);
        double start = now();
        sort(keys, spare, n);
        double took = now() - start;
        least = took < least ? took : least;
    }
    for (long at = 1; at < n; ++at) {
        if (keys[at - 1] > keys[at]) {
            return 67;
        }
    }
    printf("{\"seconds\": %.9f}\n", least);
    return 0;
}
