"""As much of CuPy as the package asks for, on the simulated GPU."""

import contextlib
import ctypes

import numpy as np

gpu = ctypes.CDLL("libcuda.so")
gpu.sim_allocate.restype = gpu.sim_used.restype = ctypes.c_uint64
gpu.sim_allocate.argtypes = [ctypes.c_int, ctypes.c_size_t]
gpu.sim_free.argtypes = [ctypes.c_uint64]
gpu.sim_copy_later.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t]
gpu.cuStreamSynchronize.argtypes = [ctypes.c_void_p]
stream = 1
"""The handle of the current stream."""


class Memory:
    def __init__(self, device, bytes):
        self.address = gpu.sim_allocate(device, max(bytes, 1))

    def __del__(self):
        gpu.sim_free(self.address)


class ndarray:
    def __init__(self, memory, view):
        # `view` is the array as the host sees it, which a simulated device's memory lets it.
        self.memory, self.view = memory, view
        self.shape, self.dtype = view.shape, view.dtype

    @property
    def __cuda_array_interface__(self):
        view = self.view
        own = {"shape": view.shape, "typestr": view.dtype.str, "data": (view.ctypes.data, False), "version": 3}
        return own | {"strides": None if view.flags.c_contiguous else view.strides, "stream": stream}

    def __getitem__(self, where):
        return ndarray(self.memory, self.view[where])

    def copy(self):
        return asarray(self.view)

    def get(self):
        return self.view.copy()


def empty(shape, dtype=np.float32, device=None):
    dtype = np.dtype(dtype)
    length = int(np.prod(shape))
    memory = Memory(cuda.Device.current if device is None else device, length * dtype.itemsize)
    flat = (ctypes.c_char * (length * dtype.itemsize)).from_address(memory.address)
    return ndarray(memory, np.frombuffer(flat, dtype, length).reshape(shape))


def asarray(values, device=None):
    array = empty(values.shape, values.dtype, device)
    array.view[...] = values
    return array


class cuda:
    class Device(contextlib.AbstractContextManager):
        current = 0

        def __init__(self, number):
            self.number = number

        def __enter__(self):
            self.before, cuda.Device.current = cuda.Device.current, self.number

        def __exit__(self, *raised):
            cuda.Device.current = self.before
