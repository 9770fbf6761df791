/* Stands before MPI's own functions (its profiling interface): counts what is sent while MPI_Pcontrol says so, and, for
 * TW_DELAY seconds in the environment, has no message arrive earlier than that after it was sent. */
#include <mpi.h>
#include <stdlib.h>

long long shim_messages, shim_bytes;
static int counting;
static double posted;

int MPI_Pcontrol(const int level, ...)
{
    counting = level > 0;
    return MPI_SUCCESS;
}

static void count(int elements, MPI_Datatype type)
{
    MPI_Count size = 0;
    MPI_Type_size_x(type, &size);
    posted = PMPI_Wtime();
    if (!counting) return;
    shim_messages += 1;
    shim_bytes += (long long)size * elements;
}

int MPI_Isend(const void *values, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    count(elements, type);
    return PMPI_Isend(values, elements, type, to, tag, comm, request);
}

int MPI_Send(const void *values, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count(elements, type);
    return PMPI_Send(values, elements, type, to, tag, comm);
}

int MPI_Waitall(int requests, MPI_Request *of, MPI_Status *statuses)
{
    const char *text = getenv("TW_DELAY");
    const double delay = text ? atof(text) : 0;
    const int status = PMPI_Waitall(requests, of, statuses);
    while (requests > 0 && delay > 0 && PMPI_Wtime() < posted + delay) continue;
    return status;
}
