/* Reads cases, one a line, and runs them on all ranks: stencil, data file, ranks of three dimensions, depth, whether
 * blocking, how often through a file, and a checkpoint. Prints code and facts of each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* `TW_STENCIL(name)` for each stencil. */
#define TW_STENCIL(name) int name##_check(const char *, const long long *, const char *, long long *);
#include "stencils.inc"
#undef TW_STENCIL
#define TW_STENCIL(name) { #name, name##_check },
static const struct { const char *name; int (*check)(const char *, const long long *, const char *, long long *); } stencils[] = {
#include "stencils.inc"
};

int main(int argc, char **argv)
{
    int level, rank;
    char name[100], path[400], keep[400];
    long long arguments[6];
    FILE *cases = argc > 1 ? fopen(argv[1], "r") : NULL;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (cases && fscanf(cases, "%99s %399s %lld %lld %lld %lld %lld %lld %399s", name, path, arguments, arguments + 1,
            arguments + 2, arguments + 3, arguments + 4, arguments + 5, keep) == 9) {
        for (size_t at = 0; at < sizeof stencils / sizeof *stencils; ++at) {
            if (strcmp(stencils[at].name, name) != 0) continue;
            long long facts[9] = { 0 };
            const int code = stencils[at].check(path, arguments, keep, facts);
            if (rank == 0) {
                printf("case %d", code);
                for (int fact = 0; fact < 9; ++fact) printf(" %lld", facts[fact]);
                printf("\n");
                fflush(stdout);
            }
        }
    }
    MPI_Finalize();
    return !cases;
}
