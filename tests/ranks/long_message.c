/* A message of more than 2^31 bytes: the ghost zone of a field that is only read, as deep as the field is long. Compiled by an mpicc, in the folder of
 * the library for a program `far`; two ranks, 10 GB. The values that ranks put are those of a short file, again and again. */
#define _GNU_SOURCE
#include "far_mpi.c"

#include <sys/mman.h>
#include <unistd.h>

/* A prime number of pages, so that what lies 1 GiB away is another value. */
enum { PERIOD = 4099 * 4096 / 8 };
static const long long deep = ((long long)1 << 28) + 8, each = ((long long)1 << 28) + 64;

static double value(long long at) { return (double)(at % PERIOD * 31 + 7); }

int main(int argc, char **argv)
{
    int level, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const long long sizes[1] = { 2 * each };
    far_mpi_options options;
    far_mpi_facts facts;
    far_mpi *grid = NULL;
    far_mpi_defaults(&options);
    options.ranks[0] = 2;
    options.depth = deep;
    options.blocking = 1;
    int code = far_mpi_create(MPI_COMM_WORLD, sizes, &options, &grid);
    if (code != 0) return code;
    /* One period in memory, mapped as often as the values of a rank need it. */
    const int file = memfd_create("values", 0);
    const size_t period = (size_t)PERIOD * 8, all = ((size_t)each * 8 / period + 2) * period;
    if (file < 0 || ftruncate(file, (off_t)period) != 0) return 20;
    char *values = (char *)mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (values == MAP_FAILED) return 21;
    double *first = (double *)mmap(NULL, period, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (first == MAP_FAILED) return 22;
    for (long long at = 0; at < PERIOD; ++at) first[at] = value(at);
    for (size_t at = 0; at < all; at += period) {
        if (mmap(values + at, period, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) return 23;
    }
    far_mpi_get_facts(grid, &facts);
    code = far_mpi_put(grid, 1, 0, values + (size_t)(facts.low[0] % PERIOD) * 8);
    if (code == 0) code = far_mpi_run(grid, 1, NULL);
    if (code != 0) return code;
    far_mpi_get_facts(grid, &facts);
    /* Of two ranks only the second one sends: nothing to the left of a point is read. */
    long long sent[2] = { facts.messages, facts.bytes }, total[2];
    MPI_Reduce(sent, total, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const tw_box *const box = &grid->memory.box;
        long long wrong = box->high[0] != each + deep;
        const double *const found = (const double *)grid->memory.slots[tw_fields[1].first];
        for (long long at = box->low[0]; at < box->high[0]; ++at) wrong += found[at - box->low[0]] != value(at);
        /* The step itself exchanges one point of u. */
        printf("%lld messages of %lld bytes in all, %lld wrong values\n", total[0], total[1], wrong);
    }
    far_mpi_free(&grid);
    MPI_Finalize();
    return 0;
}
