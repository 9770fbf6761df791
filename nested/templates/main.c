/* Runs the program on NumPy files, checks it against its sequential form, and times it:
 *
 *     @NAME@ [--threads N] [--repeat N] [--close E] [--no-check] NAME=FILE.npy.. PARAMETER=NUMBER..
 *
 * Results are compared bit for bit; with --close E they may differ by E, relative to the greater number and 1: on a GPU
 * the last bits of functions such as exp are others. */
#include "@NAME@.h"

#include <stdio.h>
#include <time.h>

static const struct given {
    const char *name;
    const char *kind;
    int bytes, width, slot, parameter;
    double number;
} given[] = {
@GIVEN@    {NULL, NULL, 0, 0, 0, 0, 0.0},
};

static const struct result {
    const char *name;
    const char *kind;
    int bytes, slot;
} results[] = {
@RESULTS@    {NULL, NULL, 0, 0},
};

static int fail(const char *name, const char *why)
{
    fprintf(stderr, "%s: %s\n", name, why);
    return 2;
}

static int set(tw_slot *slot, const struct given *own, double number)
{
    slot->data = calloc(1, 8);
    slot->length = 1;
    if (slot->data == NULL) return fail(own->name, "no memory");
    if (strcmp(own->kind, "<i4") == 0) *(int32_t *)slot->data = (int32_t)number;
    else if (strcmp(own->kind, "<i8") == 0) *(int64_t *)slot->data = (int64_t)number;
    else if (strcmp(own->kind, "<f4") == 0) *(float *)slot->data = (float)number;
    else if (strcmp(own->kind, "<f8") == 0) *(double *)slot->data = number;
    else *(uint8_t *)slot->data = number != 0;
    return 0;
}

static int load(tw_slot *slot, const struct given *own, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return fail(path, "cannot be read");
    unsigned char head[12];
    char header[65536];
    size_t length = 0;
    int good = fread(head, 1, 8, file) == 8 && memcmp(head, "\x93NUMPY", 6) == 0;
    if (good) {
        int wide = head[6] > 1 ? 4 : 2;
        good = fread(head, 1, (size_t)wide, file) == (size_t)wide;
        for (int i = wide - 1; good && i >= 0; --i) length = length << 8 | head[i];
    }
    good = good && length < sizeof header && fread(header, 1, length, file) == length;
    header[good ? length : 0] = 0;
    const char *shape = strstr(header, "'shape'");
    if (!good || strstr(header, own->kind) == NULL || strstr(header, "'fortran_order': False") == NULL || !shape) {
        fclose(file);
        return fail(path, "is no .npy file of the type of this input, in C order");
    }
    int64_t count = 1;
    for (const char *at = strchr(shape, '('); at != NULL && *at != ')' && *at != 0; ++at) {
        if (*at >= '0' && *at <= '9') {
            char *end;
            count *= strtoll(at, &end, 10);
            at = end - 1;
        }
    }
    slot->data = malloc((size_t)(count > 0 ? count : 1) * (size_t)own->bytes);
    slot->length = count / own->width;
    good = slot->data != NULL && fread(slot->data, (size_t)own->bytes, (size_t)count, file) == (size_t)count;
    fclose(file);
    return good ? 0 : fail(path, "is cut off, or there is no memory");
}

static double now(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double number_at(const tw_slot *slot, const char *kind, size_t place)
{
    if (strcmp(kind, "<f4") == 0) return (double)((const float *)slot->data)[place];
    return ((const double *)slot->data)[place];
}

/* Whether numbers are as close as is asked for; all but floating-point numbers are equal. */
static int is_close(const tw_slot *a, const tw_slot *b, const struct result *own, double tolerance)
{
    if (own->kind[1] != 'f') return memcmp(a->data, b->data, (size_t)a->length * (size_t)own->bytes) == 0;
    size_t count = (size_t)a->length * (size_t)own->bytes / (own->kind[2] == '4' ? 4 : 8);
    for (size_t i = 0; i < count; ++i) {
        double x = number_at(a, own->kind, i), y = number_at(b, own->kind, i);
        double most = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
        if (x != y && !(fabs(x - y) <= tolerance * (most > 1 ? most : 1)) && !(x != x && y != y)) return 0;
    }
    return 1;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments)
{
    tw_slot slots[@SLOTS@] = {{0}}, plain[@PLAIN@] = {{0}};
    tw_report report;
    int threads = 1, repeat = 5, check = 1;
    double tolerance = 0;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    for (int i = 1; i < count; ++i) {
        char *value = strchr(arguments[i], '=');
        if (strcmp(arguments[i], "--threads") == 0 && i + 1 < count) {
            threads = atoi(arguments[++i]);
            continue;
        }
        if (strcmp(arguments[i], "--repeat") == 0 && i + 1 < count) {
            repeat = atoi(arguments[++i]);
            continue;
        }
        if (strcmp(arguments[i], "--close") == 0 && i + 1 < count) {
            tolerance = atof(arguments[++i]);
            continue;
        }
        if (strcmp(arguments[i], "--no-check") == 0) {
            check = 0;
            continue;
        }
        const struct given *own = given;
        while (value != NULL && own->name != NULL && (strncmp(own->name, arguments[i], (size_t)(value - arguments[i])) != 0
                                                      || own->name[value - arguments[i]] != 0)) ++own;
        if (value == NULL || own->name == NULL) return fail(arguments[i], "is no input or parameter of this program");
        char *end;
        double number = strtod(value + 1, &end);
        int wrong = *end == 0 && end != value + 1 ? set(&slots[own->slot], own, number)
                                                  : load(&slots[own->slot], own, value + 1);
        if (wrong) return wrong;
    }
    for (const struct given *own = given; own->name != NULL; ++own) {
        if (slots[own->slot].data == NULL) {
            if (!own->parameter) return fail(own->name, "is missing: give it as NAME=FILE.npy");
            if (set(&slots[own->slot], own, own->number)) return 2;
        }
        plain[own->slot] = slots[own->slot];
    }
    (void)threads;
    if (repeat < 1) repeat = 1;
    double *times = (double *)malloc((size_t)repeat * sizeof *times);
    if (times == NULL) return fail("times", "no memory");
    int wrong = 0;
@RUN@    if (wrong) {
        fprintf(stderr, "%s\n", @NAME@_check(report.check));
        fprintf(stderr, "numbers: %lld, %lld\n", (long long)report.numbers[0], (long long)report.numbers[1]);
        return 2;
    }
    qsort(times, (size_t)repeat, sizeof *times, by_time);
    double start = now(), best = times[0], median = times[repeat / 2];
    free(times);
    if (check && @NAME@_sequential(plain, @ALONE@, &report)) return fail("@NAME@_sequential", "found something wrong");
    double seconds = now() - start;
    int different = 0;
    for (const struct result *own = results; own->name != NULL; ++own) {
        if (!check) break;
        tw_slot *a = &slots[own->slot], *b = &plain[own->slot];
        size_t bytes = (size_t)a->length * (size_t)own->bytes;
        int same = a->length == b->length && (bytes == 0 || memcmp(a->data, b->data, bytes) == 0
                                             || (tolerance > 0 && is_close(a, b, own, tolerance)));
        printf("%s: %lld elements, %s\n", own->name, (long long)a->length, same ? "equal" : "DIFFERENT");
        different |= !same;
    }
    printf("%.9f s @WHERE@ (median %.9f), %.9f s one after the other\n", best@THREADS@, median, check ? seconds : 0.0);
    @NAME@_free(slots);
    @NAME@_sequential_free(plain);
    for (const struct given *own = given; own->name != NULL; ++own) free(slots[own->slot].data);
    return different;
}
