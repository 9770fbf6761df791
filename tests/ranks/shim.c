/* Stands before MPI's own functions (its profiling interface). Counts what is sent while MPI_Pcontrol says so, and asks what it would
 * cost if each message took longer, by TW_DELAY times what is computed in a band:
 *
 *   waited = max(0, TW_DELAY * computed - computed between the last message's post and MPI_Waitall)
 *
 * where `computed` is the processor time of this process outside MPI in a band: nothing waits for it, and it does not depend on what other
 * processes do. A band is late where it would wait for more than 5 % of that. With TW_DELAY_ELAPSED in the environment messages do
 * arrive as much later, by the band before and elapsed time; or so many seconds later, where it is a number of them, those of the first band, too.
 *
 * A band whose messages had all been found to be there before MPI_Waitall was called has `arrived`. So that this does not depend on who is
 * given a processor when, all ranks have posted all messages of a band before any of them is looked after. */
#define _POSIX_C_SOURCE 200112L
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

long long shim_messages, shim_bytes, shim_bands, shim_arrived, shim_late;
/* What MPI says that threads may do; -1: the truth. */
int shim_level = -1;
static double waited, all;

static int counting, elapsed, known;
static double part, fixed;
/* Time inside MPI, when the band began and when its last message was sent, on the clock below; and seconds that messages of a band take. */
static double inside, begun, posted, delay;
/* Seconds of this band's messages that were computed meanwhile; -1: they are under way. */
static double hidden = -1;
static int open_band, met;

static double now(void)
{
    struct timespec time;
    if (elapsed) return PMPI_Wtime();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double computed(void) { return now() - inside; }

static void read_environment(void)
{
    const char *text = getenv("TW_DELAY");
    if (known) return;
    known = 1;
    part = text ? atof(text) : 0;
    elapsed = getenv("TW_DELAY_ELAPSED") != NULL;
    if (elapsed) delay = fixed = atof(getenv("TW_DELAY_ELAPSED"));
}

static void end_band(void)
{
    if (!open_band) return;
    const double own = computed() - begun;
    const double late = elapsed || hidden < 0 ? 0 : part * own - hidden;
    shim_bands += 1;
    shim_late += late > 0.05 * own;
    all += own;
    delay = !elapsed ? 0 : fixed > 0 ? fixed : part * own;
    open_band = 0;
}

/* A message of a band is posted. */
static void post(void)
{
    read_environment();
    if (part > 0 && (!open_band || hidden >= 0)) {
        end_band();
        open_band = 1;
        met = 0;
        hidden = -1;
        begun = computed();
    }
}

static void meet(void)
{
    if (part > 0 && open_band && !met && !elapsed) PMPI_Barrier(MPI_COMM_WORLD);
    met = 1;
}

int MPI_Pcontrol(const int level, ...)
{
    if (level == 0) end_band();
    counting = level > 0;
    return MPI_SUCCESS;
}

int MPI_Query_thread(int *level)
{
    const int status = PMPI_Query_thread(level);
    if (shim_level >= 0) *level = shim_level;
    return status;
}

static void count(int elements, MPI_Datatype type)
{
    MPI_Count size = 0;
    MPI_Type_size_x(type, &size);
    if (!counting) return;
    shim_messages += 1;
    shim_bytes += (long long)size * elements;
}

int MPI_Irecv(void *values, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    post();
    const double begin = now();
    const int status = PMPI_Irecv(values, elements, type, from, tag, comm, request);
    inside += now() - begin;
    return status;
}

int MPI_Isend(const void *values, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    post();
    const double begin = now();
    count(elements, type);
    const int status = PMPI_Isend(values, elements, type, to, tag, comm, request);
    inside += now() - begin;
    posted = elapsed ? now() : computed();
    return status;
}

int MPI_Send(const void *values, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count(elements, type);
    return PMPI_Send(values, elements, type, to, tag, comm);
}

int MPI_Testall(int requests, MPI_Request *of, int *done, MPI_Status *statuses)
{
    const double begin = now();
    int status = MPI_SUCCESS;
    meet();
    if (elapsed && begin < posted + delay) {
        /* Under way, as MPI would have it, and not there. */
        *done = 0;
        for (int at = 0; at < requests; ++at) {
            int ignored;
            if (of[at] != MPI_REQUEST_NULL) PMPI_Request_get_status(of[at], &ignored, MPI_STATUS_IGNORE);
        }
    } else {
        status = PMPI_Testall(requests, of, done, statuses);
    }
    inside += now() - begin;
    return status;
}

int MPI_Waitall(int requests, MPI_Request *of, MPI_Status *statuses)
{
    const double begin = now();
    int arrived = requests > 0;
    for (int at = 0; at < requests; ++at) arrived &= of[at] == MPI_REQUEST_NULL;
    shim_arrived += arrived && open_band;
    if (open_band && hidden < 0) hidden = begin - inside - posted;
    meet();
    const int status = PMPI_Waitall(requests, of, statuses);
    if (elapsed && open_band) {
        const double late = now();
        while (now() < posted + delay) sched_yield();
        waited += now() - late;
        hidden = 0;
    }
    inside += now() - begin;
    return status;
}

int MPI_Finalize(void)
{
    int rank;
    end_band();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (elapsed && part > 0) {
        fprintf(stderr, "rank %d: %lld bands, %lld of them arrived meanwhile; computed %.3f s, waited for the delay %.3f s\n", rank,
                shim_bands, shim_arrived, all, waited);
    }
    return PMPI_Finalize();
}
