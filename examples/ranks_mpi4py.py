"""A library for ranks on a communicator of mpi4py: mpirun -n 4 python ranks.py ./libheat2d_mpi.so"""

import ctypes
import sys

import numpy
from mpi4py import MPI

library = ctypes.CDLL(sys.argv[1])
# A communicator of C is an int or a pointer, as the MPI has it.
Handle = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p


def must(code: int) -> None:
    if code != 0:
        raise RuntimeError(f"code {code}: heat2d_mpi.h says what it means")


communicator = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
shape = (203, 150)
grid = ctypes.c_void_p()
sizes = (ctypes.c_longlong * 2)(*shape)
must(library.heat2d_mpi_create(Handle.from_address(MPI._addressof(communicator)), sizes, None, ctypes.byref(grid)))
first = communicator.rank == 0
u = numpy.random.default_rng(7).random(shape, dtype=numpy.float32) if first else None
pointer = u.ctypes.data_as(ctypes.c_void_p) if first else None
must(library.heat2d_mpi_scatter(grid, 0, 0, 0, pointer))
must(library.heat2d_mpi_run(grid, ctypes.c_longlong(100), (ctypes.c_double * 2)(0.125, 0.125)))
must(library.heat2d_mpi_gather(grid, 0, 0, 0, pointer))
library.heat2d_mpi_free(ctypes.byref(grid))
if first:
    print(f"{communicator.size} ranks: the sum is {u.sum(dtype=numpy.float64):.10f}")
