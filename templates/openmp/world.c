/* MPI for a process that is built without it and loads this at run time. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <mpi.h>

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

/* The ranks of this computer. */
static MPI_Comm tw_computer = MPI_COMM_NULL;

/* Begins with MPI; the rank, the number of ranks, how many of them are on this computer, and the first one of these. */
int tw_world_start(int *rank, int *count, int *here, int *first)
{
    int level = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 9;
    if (level < MPI_THREAD_FUNNELED) return 10;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &tw_computer) != MPI_SUCCESS) return 9;
    MPI_Comm_size(tw_computer, here);
    *first = *rank;
    return MPI_Bcast(first, 1, MPI_INT, 0, tw_computer) == MPI_SUCCESS ? 0 : 9;
}

/* The name of this computer. */
int tw_world_computer(char *name, int most)
{
    char found[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length = 0;
    if (MPI_Get_processor_name(found, &length) != MPI_SUCCESS) return 9;
    if (length >= most) length = most - 1;
    for (int at = 0; at < length; ++at) name[at] = found[at];
    name[length] = 0;
    return 0;
}

/* Ends with MPI. */
int tw_world_stop(void)
{
    if (MPI_Comm_free(&tw_computer) != MPI_SUCCESS) return 9;
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 9;
}

/* Of each processor of this computer, whether this rank may use it, and how many of the ranks here may: zeros where the system does not say. */
int tw_world_processors(int *own, int *users, int count)
{
    for (int number = 0; number < count; ++number) own[number] = 0;
#ifdef __linux__
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int number = 0; number < count && number < CPU_SETSIZE; ++number) own[number] = CPU_ISSET(number, &set) != 0;
    }
#endif
    return MPI_Allreduce(own, users, count, MPI_INT, MPI_SUM, tw_computer) == MPI_SUCCESS ? 0 : 9;
}

/* The greatest of the numbers of all ranks, or of those of this computer, or their sum; numbers are not negative. Who waits sleeps: libraries of
 * MPI keep a processor busy with waiting, and another rank may be compiling. */
int tw_world_reduced(int number, int sum, int here)
{
    const struct timespec pause = { 0, 500000 };
    int all = number, done = 0;
    MPI_Request request;
    const MPI_Comm comm = here ? tw_computer : MPI_COMM_WORLD;
    if (MPI_Iallreduce(&number, &all, 1, MPI_INT, sum ? MPI_SUM : MPI_MAX, comm, &request) != MPI_SUCCESS) return -1;
    for (int looks = 0; !done; ++looks) {
        if (looks > 100) nanosleep(&pause, NULL);
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -1;
    }
    return all;
}

/* Seconds of one way of a message of so many bytes between the first rank and the last one, the least of several rounds, on
 * both of them; all ranks call it. */
int tw_world_way(long long bytes, int rounds, double *seconds)
{
    int rank, count, code = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    *seconds = 0;
    char *buffer = (char *)calloc(1, (size_t)bytes + 1);
    if (tw_world_reduced(buffer == NULL, 0, 0) != 0 || count < 2) {
        free(buffer);
        return count < 2 ? 8 : 1;
    }
    for (int round = 0; round < rounds && (rank == 0 || rank == count - 1) && code == 0; ++round) {
        const double begin = MPI_Wtime();
        const int other = rank == 0 ? count - 1 : 0;
        for (int turn = 0; turn < 2 && code == 0; ++turn) {
            const int status = (rank == 0) == (turn == 0)
                ? MPI_Send(buffer, (int)bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD)
                : MPI_Recv(buffer, (int)bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (status != MPI_SUCCESS) code = 9;
        }
        const double way = (MPI_Wtime() - begin) / 2;
        if (round == 0 || way < *seconds) *seconds = way;
    }
    free(buffer);
    return tw_world_reduced(code, 0, 0);
}

/* The bytes of the first rank, of all or of this computer. */
int tw_world_broadcast(void *bytes, int count, int here)
{
    return MPI_Bcast(bytes, count, MPI_BYTE, 0, here ? tw_computer : MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : 9;
}

/* The ranks of this computer go on at the same time. Nobody is late, so that nobody sleeps. */
int tw_world_together(void)
{
    return MPI_Barrier(tw_computer) == MPI_SUCCESS ? 0 : 9;
}
