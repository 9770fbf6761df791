/* Runs one stencil on all ranks as a file of data says, and compares with the values that the file expects. Compiled once
 * for each stencil, with TW_NAME and TW_HEADER. */
#include TW_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#define EXPAND(a, b) JOIN(a, b)
#define MPI(name) EXPAND(TW_NAME, _mpi##name)

enum { DIMENSION = (int)(sizeof ((MPI(_options) *)0)->ranks / sizeof(int)) };

static long long number(FILE *file)
{
    long long value = 0;
    if (fread(&value, sizeof value, 1, file) != 1) exit(3);
    return value;
}

static char *block(FILE *file, long long bytes)
{
    char *memory = (char *)malloc((size_t)bytes + 1);
    if (!memory || fread(memory, 1, (size_t)bytes, file) != (size_t)bytes) exit(4);
    return memory;
}

extern long long shim_messages, shim_bytes, shim_bands, shim_arrived, shim_late;
extern int shim_level;

/* The code; facts are mismatches, depth, and messages and bytes of all ranks: the library's, and those that the shim saw; and what it says
 * of bands.
 * `keep` is a checkpoint that is written after the first call, or, with a < before it, read in place of that call; or -. */
int EXPAND(TW_NAME, _check)(const char *path, const long long *arguments, const char *keep, long long *facts)
{
    const int reads = keep[0] == '<', writes = keep[0] != '<' && strcmp(keep, "-") != 0;
    FILE *file = fopen(path, "rb");
    MPI(_options) options;
    EXPAND(TW_NAME, _mpi) *grid;
    long long sizes[DIMENSION], points = 1, mismatches = 0;
    double parameters[16];
    int rank;
    if (!file) exit(2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* The caller waits for any message on its own communicator: the library's are not there. */
    int word = 0, met = 0;
    MPI_Request open, answer;
    PMPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &open);
    MPI(_defaults)(&options);
    for (int d = 0; d < DIMENSION; ++d) {
        sizes[d] = number(file);
        points *= sizes[d];
        options.ranks[d] = (int)arguments[d];
    }
    const long long steps = number(file), fields = number(file), series = number(file), count = number(file);
    for (int at = 0; at < count; ++at) {
        const long long bits = number(file);
        memcpy(&parameters[at], &bits, sizeof bits);
    }
    options.depth = arguments[3];
    options.blocking = (int)arguments[4];
#ifdef TW_DEVICE
    /* Both ways of messages, whatever MPI says of itself: here a device's memory is memory. */
    options.device_messages = options.blocking > 0 ? 1 : -1;
#endif
    int code = MPI(_create)(MPI_COMM_WORLD, sizes, &options, &grid);
    if (code != 0) {
        PMPI_Cancel(&open);
        PMPI_Wait(&open, MPI_STATUS_IGNORE);
        fclose(file);
        return code;
    }
    long long bytes[32], levels[32], state[32];
    for (int field = 0; field < fields; ++field) {
        bytes[field] = number(file);
        levels[field] = number(file);
        state[field] = number(file);
        for (int level = 0; level < levels[field]; ++level) {
            char *values = block(file, points * bytes[field]);
            if (reads && state[field]) memset(values, 0, (size_t)(points * bytes[field]));
            code |= MPI(_scatter)(grid, field, level + 1 - (int)levels[field], 0, values);
            free(values);
        }
    }
    for (int at = 0; at < series; ++at) {
        const long long size = number(file), length = number(file);
        char *values = block(file, size * length);
        code |= MPI(_series)(grid, at, values, length);
        free(values);
    }
    /* In two calls: the second one goes on. */
    unsigned long long mark = 0;
    if (reads) {
        const int status = MPI(_restore)(grid, keep + 1, &mark);
        if (status != 0 || mark != 24) {
            PMPI_Cancel(&open);
            PMPI_Wait(&open, MPI_STATUS_IGNORE);
            MPI(_free)(&grid);
            fclose(file);
            return status != 0 ? status : 99;
        }
    }
    shim_messages = shim_bytes = shim_bands = shim_arrived = shim_late = 0;
    MPI_Pcontrol(1);
    if (!reads) code |= MPI(_run)(grid, steps / 3, parameters);
    MPI_Pcontrol(0);
    if (writes) code |= MPI(_save)(grid, keep, 24);
    MPI_Pcontrol(1);
    code |= MPI(_run)(grid, steps - steps / 3, parameters);
    MPI_Pcontrol(0);
    char *found = (char *)malloc((size_t)points * 8);
    for (int field = 0; field < fields; ++field) {
        if (!state[field]) continue;
        char *expected = block(file, points * bytes[field]);
        code |= MPI(_gather)(grid, field, 0, 0, found);
        for (long long at = 0; rank == 0 && at < points * bytes[field]; at += bytes[field]) {
            mismatches += memcmp(found + at, expected + at, (size_t)bytes[field]) != 0;
        }
        free(expected);
    }
    /* Through a file and back, so often. */
    char name[600];
    snprintf(name, sizeof name, "%s.npy", path);
    for (int round = 0; round < arguments[5] * fields; ++round) {
        const int field = round % (int)fields;
        if (!state[field]) continue;
        code |= MPI(_write)(grid, field, 0, name);
        code |= MPI(_gather)(grid, field, 0, 0, found);
        MPI_Bcast(found, (int)(points * bytes[field]), MPI_BYTE, 0, MPI_COMM_WORLD);
        char *again = (char *)calloc((size_t)points, 8);
        code |= MPI(_scatter)(grid, field, 0, 0, again);
        code |= MPI(_read)(grid, field, 0, name);
        code |= MPI(_gather)(grid, field, 0, 0, again);
        mismatches += rank == 0 && memcmp(found, again, (size_t)(points * bytes[field])) != 0;
        free(again);
    }
    MPI(_facts) own;
    MPI(_get_facts)(grid, &own);
    long long counts[7] = { own.messages, own.bytes, shim_messages, shim_bytes, shim_bands, shim_arrived, shim_late };
    facts[0] = mismatches;
    facts[1] = own.depth;
    MPI_Reduce(counts, facts + 2, 7, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    free(found);
    /* Ranks that say different things are refused, all of them. */
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 && MPI(_run)(grid, rank == 0 ? 0 : 1, parameters) != 2) code |= 1 << 10;
    /* A file that one rank cannot write fails on all. */
    if (ranks > 1 && MPI(_write)(grid, 0, 0, rank == 1 ? "nowhere/file" : name) != 11) code |= 1 << 13;
    MPI(_free)(&grid);
    /* A thread level that one rank lacks is an error of all. */
    shim_level = rank == 0 ? MPI_THREAD_SINGLE : -1;
    if (MPI(_create)(MPI_COMM_WORLD, sizes, &options, &grid) != 10) code |= 1 << 14;
    shim_level = -1;
    options.blocking += rank;
    if (ranks > 1 && MPI(_create)(MPI_COMM_WORLD, sizes, &options, &grid) != 8) code |= 1 << 11;
    options.blocking -= rank;
    options.depth = 0;
    options.point = rank == 0 ? 1 : 1e-30;
    options.latency = rank == 0 ? 1e-30 : 1;
    if (MPI(_create)(MPI_COMM_WORLD, sizes, &options, &grid) == 0) {
        long long depths[2];
        MPI(_get_facts)(grid, &own);
        MPI_Allreduce(&own.depth, &depths[0], 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&own.depth, &depths[1], 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (depths[0] != depths[1]) code |= 1 << 12;
        MPI(_free)(&grid);
    }
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    PMPI_Test(&open, &met, MPI_STATUS_IGNORE);
    if (met || handler != MPI_ERRORS_ARE_FATAL) code |= 1 << 15;
    if (!met) {
        PMPI_Isend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &answer);
        PMPI_Wait(&open, MPI_STATUS_IGNORE);
        PMPI_Wait(&answer, MPI_STATUS_IGNORE);
    }
    fclose(file);
    return code;
}
