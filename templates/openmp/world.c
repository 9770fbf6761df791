/* MPI for a process that is built without it and loads this at run time. */
#include <mpi.h>

#include <stddef.h>

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

/* Ends with MPI. */
int tw_world_stop(void)
{
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 9;
}

/* The greatest of the numbers of all ranks. */
int tw_world_greatest(int number)
{
    int all = number;
    return MPI_Allreduce(&number, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) == MPI_SUCCESS ? all : -1;
}

/* The first rank's bytes. */
int tw_world_broadcast(void *bytes, int count)
{
    return MPI_Bcast(bytes, count, MPI_BYTE, 0, MPI_COMM_WORLD) == MPI_SUCCESS ? 0 : 9;
}
