/* One stencil on ranks that SimGrid simulates: the library for ranks as it is, below it, in place of computing, the seconds that a model says.
 * Compiled once, with TW_NAME and TW_LIBRARY, by smpicc; all ranks are one process and share what is static, and the memory of arrays and
 * of messages, whose values mean nothing.
 *
 *   simulated COSTS PACKING DEPTH BLOCKING STEPS SIZES.. RANKS..
 *
 * COSTS has a line for each box and number of steps, with the seconds. Of those that it lacks, the first rank to meet one says so. PACKING
 * are seconds per byte that is packed or unpacked. */
#include <simgrid/barrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Larger blocks are the same memory on all ranks: arrays, what is sent, what is received. */
enum { ARRAYS, SENT, RECEIVED, BLOCKS, OWN_BYTES = 16384 };
static const size_t block_bytes = (size_t)1 << 36;
static char *blocks[BLOCKS];

static void *shared(int block)
{
    if (!blocks[block]) {
        void *memory = mmap(NULL, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return NULL;
        blocks[block] = (char *)memory;
    }
    return blocks[block];
}

static void *own_calloc(size_t count, size_t bytes)
{
    return count * bytes > OWN_BYTES ? shared(ARRAYS) : (calloc)(count, bytes);
}

/* The library takes memory for what it sends and for what it receives in turn. */
static void *own_malloc(size_t bytes)
{
    static int turn;
    turn = SENT + RECEIVED - (turn ? turn : RECEIVED);
    return bytes > OWN_BYTES ? shared(turn) : (malloc)(bytes);
}

static void own_free(void *memory)
{
    for (int block = 0; block < BLOCKS; ++block) {
        if (memory && memory == blocks[block]) return;
    }
    (free)(memory);
}

#undef calloc
#undef malloc
#undef free
#define calloc own_calloc
#define malloc own_malloc
#define free own_free
#define memcpy memmove
#include TW_LIBRARY

#define JOIN(a, b) a##b
#define EXPAND(a, b) JOIN(a, b)
#define OWN(name) EXPAND(TW_NAME, name)

enum { DIMENSION = TW_DIMENSION, MOST = 4096 };
_Static_assert(sizeof(OWN(_mpi)) <= OWN_BYTES, "a rank has what it knows for itself");

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

static int computed(const long long *sizes, long long steps, double share)
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
    if (costs[at].seconds > 0) smpi_execute_flops(1e9 * costs[at].seconds * share);
    return 0;
}

int OWN(_invoke_levels)(void *const *levels, const long long *sizes, long long steps, const double *parameters)
{
    (void)levels, (void)parameters;
    return steps == 0 ? 0 : computed(sizes, steps, 1);
}

int OWN(_invoke_wide)(void *const *levels, const long long *sizes, long long steps, const double *parameters)
{
    (void)levels, (void)parameters;
    return steps == 0 ? 0 : computed(sizes, steps, 1);
}

/* The share of a box's points that lie within bounds that move, those of the first statement. */
int OWN(_invoke_moving)(void *const *levels, const long long *sizes, long long steps, const double *parameters, const long long *moving)
{
    double all = 0;
    (void)levels, (void)parameters;
    for (long long step = 0; step < steps; ++step) {
        double share = 1;
        for (int d = 0; d < DIMENSION; ++d) {
            const long long *const own = moving + 4 * d;
            const long long low = own[0] + step * own[1], high = own[2] + step * own[3];
            const long long first = low > 0 ? low : 0, end = high < sizes[d] ? high : sizes[d];
            share *= end > first ? (double)(end - first) / (double)sizes[d] : 0;
        }
        all += share;
    }
    return computed(sizes, steps, steps > 0 ? all / (double)steps : 0);
}

void OWN(_between_tiles)(void (*function)(void *), void *argument)
{
    (void)function, (void)argument;
}

/* Packing and unpacking take their time at once, when a rank has waited for the messages of an exchange: each piece by itself would be a moment
 * of its own, after which SimGrid goes through the messages of all ranks. What lies in the arrays is not packed. */
static double *owed;

static void packed(const void *values, int elements, MPI_Datatype type)
{
    const char *const first = blocks[ARRAYS], *const at = (const char *)values;
    int size = 0, rank = 0, ranks = 1;
    PMPI_Type_size(type, &size);
    if (first && at >= first && at < first + block_bytes) return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!owed) owed = (double *)(calloc)((size_t)ranks, sizeof *owed);
    if (owed) owed[rank] += packing * size * elements;
}

int MPI_Isend(const void *values, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    packed(values, elements, type);
    return PMPI_Isend(values, elements, type, to, tag, comm, request);
}

int MPI_Irecv(void *values, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    packed(values, elements, type);
    return PMPI_Irecv(values, elements, type, from, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int rank = 0;
    const int code = PMPI_Waitall(count, requests, statuses);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (owed && owed[rank] > 0) {
        smpi_execute_flops(1e9 * owed[rank]);
        owed[rank] = 0;
    }
    return code;
}

/* What ranks agree upon before and after they run takes no simulated time, and sends nothing: SimGrid makes a communicator of 1024 ranks in a minute, and looks
 * through all that a rank has ever sent when a message ends. The communicator that there is stands for all, with the places of ranks that MPI
 * gives them in a grid; numbers go by memory that all ranks share. */
static int all_dimensions, all_counts[DIMENSION];

enum { SHARED_BYTES = 128 };
static struct { int most; char bytes[SHARED_BYTES]; } shared_slots[3];
static unsigned *shared_calls;
static sg_bar_t shared_barrier;

/* The slot of this rank's next call. Of three slots one is used, the last one may still be read, and nobody has the next one, which is emptied here once all
 * ranks have come. */
static int shared_turn(int *rank)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (!shared_barrier) {
        int ranks = 1;
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
        shared_barrier = sg_barrier_init((unsigned)ranks);
        shared_calls = (unsigned *)(calloc)((size_t)ranks, sizeof *shared_calls);
    }
    return (int)(shared_calls[*rank]++ % 3);
}

static void shared_wait(int slot)
{
    sg_barrier_wait(shared_barrier);
    shared_slots[(slot + 2) % 3].most = 0;
}

/* The greatest of numbers that are not negative. */
int MPI_Allreduce(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int rank;
    if (count != 1 || type != MPI_INT || op != MPI_MAX) return PMPI_Allreduce(own, all, count, type, op, comm);
    const int slot = shared_turn(&rank), number = *(const int *)own;
    if (number > shared_slots[slot].most) shared_slots[slot].most = number;
    shared_wait(slot);
    *(int *)all = shared_slots[slot].most;
    return MPI_SUCCESS;
}

int MPI_Bcast(void *values, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    int rank, size = 0;
    PMPI_Type_size(type, &size);
    if (count * size > SHARED_BYTES) return PMPI_Bcast(values, count, type, root, comm);
    const int slot = shared_turn(&rank);
    if (rank == root) memcpy(shared_slots[slot].bytes, values, (size_t)(count * size));
    shared_wait(slot);
    if (rank != root) memcpy(values, shared_slots[slot].bytes, (size_t)(count * size));
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    *copy = comm;
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Cart_create(MPI_Comm comm, int dimensions, const int *counts, const int *periodic, int reorder, MPI_Comm *cart)
{
    (void)periodic, (void)reorder;
    all_dimensions = dimensions;
    memcpy(all_counts, counts, (size_t)dimensions * sizeof *counts);
    *cart = comm;
    return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int most, int *place)
{
    (void)comm, (void)most;
    for (int d = all_dimensions - 1; d >= 0; --d) {
        place[d] = rank % all_counts[d];
        rank /= all_counts[d];
    }
    return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm comm, const int *place, int *rank)
{
    (void)comm;
    *rank = 0;
    for (int d = 0; d < all_dimensions; ++d) *rank = *rank * all_counts[d] + place[d];
    return MPI_SUCCESS;
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
    long long numbers[3 + 2 * DIMENSION];
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
    options.blocking = numbers[1] ? 1 : -1;
    for (int d = 0; d < DIMENSION; ++d) options.ranks[d] = (int)numbers[3 + DIMENSION + d];
    int code = OWN(_mpi_create)(MPI_COMM_WORLD, numbers + 3, &options, &grid);
    if (code == 0) code = OWN(_mpi_run)(grid, numbers[2], parameters);
    if (code == 0) {
        OWN(_mpi_get_facts)(grid, &facts);
        /* Of all ranks, which take turns. */
        static double most;
        static long long total[2];
        if (facts.seconds > most) most = facts.seconds;
        total[0] += facts.messages;
        total[1] += facts.bytes;
        sg_barrier_wait(shared_barrier);
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        if (rank == 0) printf("simulated %.9f %lld %lld %ld\n", most, total[0], total[1], used.ru_maxrss);
        OWN(_mpi_free)(&grid);
    }
    MPI_Finalize();
    return code;
}
