/* MPI for a process that is built without it and loads this at run time. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

/* Begins with MPI; the rank, the number of ranks, and how many of them are on this computer. */
int tw_world_start(int *rank, int *count, int *here)
{
    int level = 0;
    MPI_Comm computer;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return 9;
    if (level < MPI_THREAD_FUNNELED) return 10;
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, count);
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &computer) != MPI_SUCCESS) return 9;
    MPI_Comm_size(computer, here);
    MPI_Comm_free(&computer);
    return 0;
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
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 9;
}

/* The greatest of the numbers of all ranks. Who waits sleeps: libraries of MPI keep a processor busy with waiting, and another rank may be
 * compiling, or measuring how fast tiles are. */
int tw_world_greatest(int number)
{
    const struct timespec pause = { 0, 500000 };
    int all = number, done = 0;
    MPI_Request request;
    if (MPI_Iallreduce(&number, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request) != MPI_SUCCESS) return -1;
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
    if (tw_world_greatest(buffer == NULL) != 0 || count < 2) {
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
    return tw_world_greatest(code);
}

/* The first rank's bytes. */
int tw_world_broadcast(void *bytes, int count)
{
    return MPI_Bcast(bytes, count, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : 9;
}
