/* One stencil on ranks that SimGrid simulates: the library for ranks as it is, below it, in place of computing, the seconds that a model says.
 * Compiled once, with TW_NAME and TW_HEADER, by smpicc; all ranks are one process and share what is static.
 *
 *   simulated COSTS PACKING DEPTH BLOCKING STEPS SIZES.. RANKS..
 *
 * COSTS has a line for each box and number of steps, with the seconds. Of those that it lacks, the first rank to meet one says so. PACKING
 * are seconds per byte that is packed or unpacked. */
#include TW_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#define EXPAND(a, b) JOIN(a, b)
#define OWN(name) EXPAND(TW_NAME, name)

enum { DIMENSION = (int)(sizeof ((OWN(_mpi_options) *)0)->ranks / sizeof(int)), MOST = 4096 };

/* Computers do 1e9 operations per second. */
static struct { long long box[3], steps; double seconds; } costs[MOST];
static int known, opened;
static double packing;

static void read_costs(const char *path)
{
    FILE *file = opened ? NULL : fopen(path, "r");
    opened = 1;
    while (file && known < MOST) {
        int read = 0;
        for (int d = 0; d < DIMENSION; ++d) read += fscanf(file, "%lld", &costs[known].box[d]) == 1;
        if (read != DIMENSION || fscanf(file, "%lld %lf", &costs[known].steps, &costs[known].seconds) != 2) break;
        known += 1;
    }
    if (file) fclose(file);
}

static int computed(const long long *sizes, long long steps)
{
    int at = 0;
    while (at < known && (costs[at].steps != steps || memcmp(costs[at].box, sizes, DIMENSION * sizeof *sizes) != 0)) ++at;
    if (at == MOST) return 1;
    if (at == known) {
        memcpy(costs[at].box, sizes, DIMENSION * sizeof *sizes);
        costs[at].steps = steps;
        known += 1;
        printf("box");
        for (int d = 0; d < DIMENSION; ++d) printf(" %lld", sizes[d]);
        printf(" %lld\n", steps);
    }
    if (costs[at].seconds > 0) smpi_execute_flops(1e9 * costs[at].seconds);
    return 0;
}

int OWN(_invoke_levels)(void *const *levels, const long long *sizes, long long steps, const double *parameters)
{
    (void)levels, (void)parameters;
    return computed(sizes, steps);
}

int OWN(_invoke_wide)(void *const *levels, const long long *sizes, long long steps, const double *parameters)
{
    (void)levels, (void)parameters;
    return computed(sizes, steps);
}

void OWN(_between_tiles)(void (*function)(void *), void *argument)
{
    (void)function, (void)argument;
}

static void packed(int elements, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    smpi_execute_flops(1e9 * packing * size * elements);
}

int MPI_Isend(const void *values, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    packed(elements, type);
    return PMPI_Isend(values, elements, type, to, tag, comm, request);
}

int MPI_Irecv(void *values, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    packed(elements, type);
    return PMPI_Irecv(values, elements, type, from, tag, comm, request);
}

/* SimGrid says that it supports no threads at all; ranks here have one each. */
int MPI_Query_thread(int *level)
{
    *level = MPI_THREAD_FUNNELED;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int level, rank;
    long long numbers[3 + 2 * DIMENSION], counts[2], total[2];
    OWN(_mpi_options) options;
    OWN(_mpi_facts) facts;
    OWN(_mpi) *grid = NULL;
    const double parameters[16] = { 0 };
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 6 + 2 * DIMENSION) return 2;
    read_costs(argv[1]);
    packing = atof(argv[2]);
    for (int at = 0; at < 3 + 2 * DIMENSION; ++at) numbers[at] = atoll(argv[3 + at]);
    OWN(_mpi_defaults)(&options);
    options.depth = numbers[0];
    options.blocking = (int)numbers[1];
    for (int d = 0; d < DIMENSION; ++d) options.ranks[d] = (int)numbers[3 + DIMENSION + d];
    int code = OWN(_mpi_create)(MPI_COMM_WORLD, numbers + 3, &options, &grid);
    if (code == 0) code = OWN(_mpi_run)(grid, numbers[2], parameters);
    if (code == 0) {
        OWN(_mpi_get_facts)(grid, &facts);
        double most = 0;
        counts[0] = facts.messages;
        counts[1] = facts.bytes;
        MPI_Reduce(&facts.seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        MPI_Reduce(counts, total, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) printf("simulated %.9f %lld %lld\n", most, total[0], total[1]);
        OWN(_mpi_free)(&grid);
    }
    MPI_Finalize();
    return code;
}
