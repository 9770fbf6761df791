/* What the host code of generated CUDA programs needs of CUDA, on a processor: blocks run one after the other, their
 * threads are fibers that hand over to each other at barriers. Memory of the device is memory; nothing checks who may
 * access it when (that is what the emulator is for). Warps are not known. */
#pragma once

#include "tw_fibers.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__
#define __host__
#define __device__
#define __shared__
#define __restrict__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

typedef int cudaError_t;
enum : int {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2
};
typedef struct CUstream_st *cudaStream_t;
typedef double *cudaEvent_t;

inline unsigned char tw_shared_bytes[256 << 10] __attribute__((aligned(128)));

namespace tw_host {

inline dim3 thread, block, threads, blocks;
inline tw_fibers::Fibers fibers;
inline const std::function<void()> *kernel;
inline int done;

inline void run_thread() {
    (*kernel)();
    ++done;
    for (;;) fibers.pause();
}

inline void launch(dim3 grid, dim3 own, size_t, cudaStream_t, const std::function<void()> &work) {
    const int count = static_cast<int>(own.x * own.y * own.z);
    if (!fibers.reserve(count)) abort();
    kernel = &work;
    threads = own;
    blocks = grid;
    for (block.z = 0; block.z < grid.z; ++block.z)
        for (block.y = 0; block.y < grid.y; ++block.y)
            for (block.x = 0; block.x < grid.x; ++block.x) {
                for (int fiber = 0; fiber < count; ++fiber) fibers.start(fiber, run_thread);
                done = 0;
                /* From barrier to barrier: a thread that is done waits for the others. */
                while (done < count)
                    for (int fiber = 0; fiber < count; ++fiber) {
                        const unsigned at = static_cast<unsigned>(fiber);
                        thread = dim3(at % own.x, at / own.x % own.y, at / own.x / own.y);
                        const int before = done;
                        fibers.resume(fiber);
                        if (before != done && before + 1 != done) abort();
                    }
            }
}

} // namespace tw_host

#define threadIdx tw_host::thread
#define blockIdx tw_host::block
#define blockDim tw_host::threads
#define gridDim tw_host::blocks
inline void __syncthreads() { tw_host::fibers.pause(); }

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { return *stream = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline const char *cudaGetErrorString(cudaError_t error) { return error ? "an error" : "none"; }
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel, int, int) { return cudaSuccess; }

/* TW_NO_MEMORY: what a device says that has none left for a stream. Fresh memory holds no zeros. */
inline cudaError_t cudaMalloc(void **to, size_t bytes) {
    *to = malloc(bytes);
    if (*to) memset(*to, 0xff, bytes);
    return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFree(void *memory) {
    free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMallocAsync(void **to, size_t bytes, cudaStream_t) {
    return getenv("TW_NO_MEMORY") ? +cudaErrorMemoryAllocation : cudaMalloc(to, bytes);
}
inline cudaError_t cudaFreeAsync(void *memory, cudaStream_t) { return cudaFree(memory); }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void *to, int value, size_t bytes) { return memset(to, value, bytes), cudaSuccess; }
inline cudaError_t cudaMallocHost(void **to, size_t bytes) { return cudaMalloc(to, bytes); }
inline cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }

inline cudaError_t cudaEventCreate(cudaEvent_t *event) { return *event = nullptr, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, int) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) { return *ms = 1, cudaSuccess; }
