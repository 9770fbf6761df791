/* Sorting with two variants: measures both, trains a model, and lets it choose. */
#include <tilewright_adaptive.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keys {
    size_t count;
    int *at;
};

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int quick(void *argument, void *user)
{
    struct keys *keys = argument;
    (void)user;
    qsort(keys->at, keys->count, sizeof *keys->at, by_value);
    return 0;
}

static int insertion(void *argument, void *user)
{
    struct keys *keys = argument;
    size_t i, j;
    (void)user;
    for (i = 1; i < keys->count; ++i)
        for (j = i; j > 0 && keys->at[j - 1] > keys->at[j]; --j) {
            int other = keys->at[j];
            keys->at[j] = keys->at[j - 1];
            keys->at[j - 1] = other;
        }
    return 0;
}

static double count(const void *argument, void *user)
{
    (void)user;
    return (double)((const struct keys *)argument)->count;
}

/* Insertion takes n^2 steps: nobody wants to wait for those of long arrays, not even in the tuning. */
static int short_enough(const void *argument, void *user)
{
    (void)user;
    return ((const struct keys *)argument)->count <= 5000;
}

static void *make(void *user)
{
    struct keys *keys = malloc(sizeof *keys);
    unsigned state = 1;
    size_t i;
    keys->count = *(const size_t *)user;
    keys->at = malloc(keys->count * sizeof *keys->at + 1);
    for (i = 0; i < keys->count; ++i) {
        state = state * 1664525u + 1013904223u;
        keys->at[i] = (int)(state >> 8);
    }
    return keys;
}

static void dispose(void *argument, void *user)
{
    struct keys *keys = argument;
    (void)user;
    free(keys->at);
    free(keys);
}

static int unsorted(const void *argument, void *user)
{
    const struct keys *keys = argument;
    size_t i;
    (void)user;
    for (i = 1; i < keys->count; ++i)
        if (keys->at[i - 1] > keys->at[i]) return 1;
    return 0;
}

static void must(int code)
{
    if (code >= 0) return;
    fprintf(stderr, "%s\n", twa_error());
    exit(1);
}

static twa_function *sorting(const twa_context *context)
{
    twa_function *sort = twa_function_new(context, "sort");
    if (!sort) must(-1);
    must(twa_function_variant(sort, "quick", quick, NULL));
    must(twa_function_variant(sort, "insertion", insertion, NULL));
    must(twa_function_feature(sort, "n", count, NULL));
    must(twa_function_constraint(sort, "insertion", short_enough, NULL));
    must(twa_function_build(sort));
    return sort;
}

int main(int argc, char **argv)
{
    size_t counts[24], i;
    twa_context *context = twa_context_new(argc > 1 ? argv[1] : ".");
    twa_function *sort;
    twa_tuning *tuning;
    twa_tuned tuned;
    if (!context) must(-1);

    sort = sorting(context);
    tuning = twa_tuning_new(sort);
    if (!tuning) must(-1);
    for (i = 0; i < 24; ++i) {
        char name[32];
        counts[i] = i < 12 ? 2 + i : 400 * (i - 10);
        sprintf(name, "%u keys", (unsigned)counts[i]);
        must(twa_tuning_input(tuning, name, NULL, i % 4 == 3, make, dispose, &counts[i]));
    }
    must(twa_tuning_check(tuning, unsorted, NULL));
    must(twa_tuning_set(tuning, "classifier", "tree"));
    must(twa_tuning_run(tuning, NULL, &tuned));
    printf("%u inputs labelled, %u tested\n", (unsigned)tuned.labelled, (unsigned)tuned.tested);
    twa_tuning_free(tuning);
    twa_function_free(sort);

    sort = sorting(context);
    for (i = 0; i < 24; i += 23) {
        const char *why;
        struct keys *keys = make(&counts[i]);
        int chosen = twa_function_choose(sort, keys, &why);
        must(chosen);
        printf("%u keys: %s (%s)\n", (unsigned)counts[i], twa_function_variant_name(sort, chosen), why);
        must(twa_function_call(sort, keys));
        if (unsorted(keys, NULL)) return 1;
        dispose(keys, NULL);
    }
    twa_function_free(sort);
    twa_context_free(context);
    return 0;
}
