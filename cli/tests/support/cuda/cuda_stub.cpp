/* The CUDA runtime of cuda_runtime_api.h. */
#include "cuda_runtime_api.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

/* Says at the end what no error code tells. */
struct Allocations : std::map<const void *, tw_stub_allocation> {
    ~Allocations() {
        if (!empty())
            std::fprintf(stderr, "stub: %zu allocations were not freed\n", size());
    }
} allocations;
cudaError_t last_error = cudaSuccess;

[[noreturn]] void stop(const char *what) {
    std::fprintf(stderr, "stub: %s\n", what);
    std::_Exit(99);
}

} // namespace

tw_stub_allocation &tw_stub_find(const void *memory) {
    const auto found = allocations.find(memory);
    if (found == allocations.end())
        stop("this is no device memory");
    return found->second;
}

void tw_stub_failed_launch() {
    last_error = cudaErrorLaunchFailure;
}

bool tw_stub_fails(const char *kind) {
    static std::map<std::string, int> calls;
    const int call = ++calls[kind];
    const char *wanted = std::getenv("TW_CUDA_FAILS");
    const size_t length = std::strlen(kind);
    return wanted && !std::strncmp(wanted, kind, length) && wanted[length] == ':'
        && std::atoi(wanted + length + 1) == call;
}

cudaError_t cudaMalloc(void **memory, size_t bytes) {
    if (tw_stub_fails("malloc"))
        return cudaErrorMemoryAllocation;
    *memory = std::malloc(bytes);
    std::memset(*memory, 0xff, bytes);
    allocations[*memory] = {bytes, 0, nullptr, nullptr};
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory) {
    if (!memory)
        return cudaSuccess;
    const tw_stub_allocation &own = tw_stub_find(memory);
    if (own.attached)
        own.release(own.attached);
    allocations.erase(memory);
    std::free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    const bool up = kind == cudaMemcpyHostToDevice;
    if (tw_stub_fails(up ? "upload" : "download"))
        return cudaErrorInvalidValue;
    tw_stub_allocation &device = tw_stub_find(up ? to : from);
    if (bytes > device.bytes)
        stop("a copy beyond the end of device memory");
    if (up)
        device.filled = bytes;
    std::memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    return tw_stub_fails("synchronize") ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorString(cudaError_t status) {
    switch (status) {
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorInvalidValue: return "invalid argument";
    default: return "no error";
    }
}
