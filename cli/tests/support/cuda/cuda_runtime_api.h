/* As much of the CUDA runtime as rewritten programs use, on the processor: kernels run on the emulator, every access
 * of theirs checked. Device memory is watched per element; memory that is never freed, violations, and copies
 * beyond an allocation are reported on stderr.
 *
 * TW_CUDA_FAILS=malloc:2 lets the second call of cudaMalloc fail; likewise upload, download, attribute, launch and
 * synchronize. */
#ifndef TW_CUDA_STUB_H
#define TW_CUDA_STUB_H

#include <stddef.h>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
typedef struct CUstream_st *cudaStream_t;

cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t status);

/* Whether this call, the next one of its kind, is to fail. */
bool tw_stub_fails(const char *kind);

/* An allocation: its size, what the host has copied there from its start, and what belongs to it. */
struct tw_stub_allocation {
    size_t bytes, filled;
    void *attached;
    void (*release)(void *attached);
};
tw_stub_allocation &tw_stub_find(const void *memory);
void tw_stub_failed_launch();

#ifdef TW_EMULATOR
#include "tw_emulator.h"
#include <cstdio>
#include <functional>
#include <tuple>

struct dim3 {
    unsigned x, y, z;
    explicit dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
    return tw_stub_fails("attribute") ? cudaErrorInvalidValue : cudaSuccess;
}

namespace tw_stub {

/* The emulator; says at the end what it found. */
struct Device {
    tw_emulator::Context *const context = tw_emulator::create(nullptr, 0, 5);
    std::function<void()> body;

    ~Device() {
        const tw_emulator::Counts &counts = context->counts;
        if (counts.violations)
            std::fprintf(stderr, "stub: %lld violations\n", static_cast<long long>(counts.violations));
        if (std::getenv("TW_CUDA_COUNTS"))
            std::fprintf(stderr, "stub: %lld launches\n", static_cast<long long>(counts.launches));
        delete context;
    }
};
inline Device &device() {
    static Device made;
    return made;
}

inline void release(void *attached) {
    tw_emulator::Array *array = static_cast<tw_emulator::Array *>(attached);
    std::free(array->shadow);
    delete array;
}

/* The emulator's view of an allocation, made when a kernel first gets it. */
template <class T> const tw_emulator::Array *array_of(T *memory) {
    tw_stub_allocation &own = tw_stub_find(memory);
    if (!own.attached) {
        tw_emulator::Array *array = new tw_emulator::Array;
        array->values = const_cast<std::remove_const_t<T> *>(memory);
        array->count = static_cast<std::int64_t>(own.bytes / sizeof(T));
        array->shadow = static_cast<tw_emulator::Shadow *>(
            std::malloc(sizeof(tw_emulator::Shadow) * (own.bytes / sizeof(T) + 1)));
        for (std::int64_t i = 0; i < array->count; i++) {
            array->shadow[i] = tw_emulator::Shadow();
            if ((static_cast<size_t>(i) + 1) * sizeof(T) <= own.filled)
                array->shadow[i].flags = tw_emulator::INITIALISED;
        }
        own.attached = array;
        own.release = release;
    }
    return static_cast<const tw_emulator::Array *>(own.attached);
}

/* Arguments as kernels take them. */
template <class Parameter> struct Take {
    static Parameter from(Parameter value) { return value; }
};
template <class T> struct Take<tw_emulator::Global<T>> {
    static tw_emulator::Global<T> from(T *memory) {
        return tw_emulator::Global<T>(array_of(memory), 0);
    }
};

inline void call(const tw_emulator::Launch &) {
    device().body();
}

inline void run(const dim3 &grid, const dim3 &block, size_t shared_bytes) {
    tw_emulator::Launch launch = {};
    launch.order = tw_emulator::SHUFFLED;
    launch.seed = static_cast<std::uint64_t>(device().context->counts.launches);
    const unsigned sizes[2][3] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
    std::memcpy(launch.grid, sizes[0], sizeof launch.grid);
    std::memcpy(launch.block, sizes[1], sizeof launch.block);
    launch.shared_bytes = shared_bytes;
    if (tw_stub_fails("launch") || tw_emulator::launch(*device().context, launch, call) != 0)
        tw_stub_failed_launch();
}

/* `kernel<<<grid, block, shared_bytes, stream>>>` */
template <class... Parameters> struct Configured {
    void (*kernel)(Parameters...);
    dim3 grid, block;
    size_t shared_bytes;

    template <class... Arguments> void operator()(Arguments... arguments) const {
        static_assert(sizeof...(Arguments) == sizeof...(Parameters), "a launch with another number of arguments");
        const std::tuple<Parameters...> taken(Take<Parameters>::from(arguments)...);
        void (*const called)(Parameters...) = kernel;
        device().body = [taken, called] { std::apply(called, taken); };
        run(grid, block, shared_bytes);
    }
};
template <class... Parameters>
Configured<Parameters...>
configure(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t) {
    return {kernel, grid, block, shared_bytes};
}

} // namespace tw_stub
#endif

#endif
