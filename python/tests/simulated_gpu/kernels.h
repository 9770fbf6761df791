/* What generated kernels need to be C++: each thread of a block is a fiber, which barriers and calls of warps stop until all others
 * have come. Blocks run one after the other. */
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

struct uint3 {
    unsigned x, y, z;
};
static uint3 threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __host__
#define __shared__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(bytes) __attribute__((aligned(bytes)))

namespace sim {

enum Wait { NONE, BARRIER, WARP };
struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    uint3 thread;
    bool done;
    Wait wait;
    /* Of a call of lanes: which ones, and what this one gives; then what all of them gave. */
    unsigned mask;
    uint64_t value, values[32];
};
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static size_t running;
static void (*body)(void **);
static void **arguments;

static void enter()
{
    body(arguments);
    fibers[running].done = true;
    swapcontext(&fibers[running].context, &scheduler);
}

template <class... A, std::size_t... I>
void call(void (*kernel)(A...), void **values, std::index_sequence<I...>)
{
    kernel(*static_cast<std::remove_reference_t<A> *>(values[I])...);
}

template <class... A> void call(void (*kernel)(A...), void **values)
{
    call(kernel, values, std::index_sequence_for<A...>());
}

template <class... A> constexpr std::size_t count(void (*)(A...)) { return sizeof...(A); }
template <class... A> const std::size_t *sizes(void (*)(A...))
{
    static const std::size_t all[] = {sizeof(A)..., 0};
    return all;
}

inline void stop(Wait wait)
{
    fibers[running].wait = wait;
    swapcontext(&fibers[running].context, &scheduler);
}

/* The lanes of a mask meet where all of them have come; whether any do. */
inline bool lanes_meet()
{
    bool any = false;
    for (size_t k = 0; k < fibers.size(); ++k) {
        if (fibers[k].done || fibers[k].wait != WARP) continue;
        const size_t first = k / 32 * 32;
        const unsigned mask = fibers[k].mask;
        bool all = true;
        for (size_t lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1 && first + lane < fibers.size() && !fibers[first + lane].done)
                all &= fibers[first + lane].wait == WARP && fibers[first + lane].mask == mask;
        if (!all) continue;
        uint64_t values[32] = {};
        const auto each = [&](auto what) {
            for (size_t lane = 0; lane < 32; ++lane)
                if (mask >> lane & 1 && first + lane < fibers.size() && !fibers[first + lane].done) what(fibers[first + lane], lane);
        };
        each([&](Fiber &fiber, size_t lane) { values[lane] = fiber.value; });
        each([&](Fiber &fiber, size_t) {
            std::memcpy(fiber.values, values, sizeof values);
            fiber.wait = NONE;
        });
        any = true;
    }
    return any;
}

/* What the lanes of the mask give, by their numbers. */
template <class T> const uint64_t *meet(unsigned mask, T value)
{
    Fiber &own = fibers[running];
    own.mask = mask;
    own.value = 0;
    std::memcpy(&own.value, &value, sizeof value);
    stop(WARP);
    return fibers[running].values;
}

template <class T> T of_lane(unsigned mask, T value, int lane)
{
    std::memcpy(&value, &meet(mask, value)[lane], sizeof value);
    return value;
}

inline int lane() { return int(running % 32); }

/* All threads of a block, until all have ended; then the next block. */
inline void run(const unsigned *grid, const unsigned *block, void (*kernel)(void **), void **values, unsigned char *shared,
                std::size_t shared_bytes)
{
    body = kernel;
    arguments = values;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    const std::size_t threads = std::size_t(block[0]) * block[1] * block[2];
    fibers.resize(threads);
    for (std::size_t number = 0; number < std::size_t(grid[0]) * grid[1] * grid[2]; ++number) {
        blockIdx = {unsigned(number % grid[0]), unsigned(number / grid[0] % grid[1]), unsigned(number / grid[0] / grid[1])};
        std::memset(shared, 0xff, shared_bytes);
        for (std::size_t k = 0; k < threads; ++k) {
            Fiber &fiber = fibers[k];
            fiber.stack.resize(1 << 16);
            fiber.thread = {unsigned(k % block[0]), unsigned(k / block[0] % block[1]), unsigned(k / block[0] / block[1])};
            fiber.done = false;
            fiber.wait = NONE;
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.data();
            fiber.context.uc_stack.ss_size = fiber.stack.size();
            makecontext(&fiber.context, enter, 0);
        }
        while (true) {
            size_t left = 0, at_barrier = 0;
            for (running = 0; running < threads; ++running) {
                if (fibers[running].done || fibers[running].wait != NONE) continue;
                threadIdx = fibers[running].thread;
                swapcontext(&scheduler, &fibers[running].context);
            }
            for (const Fiber &fiber : fibers) {
                left += !fiber.done;
                at_barrier += !fiber.done && fiber.wait == BARRIER;
            }
            if (left == 0) break;
            if (lanes_meet()) continue;
            if (at_barrier != left) {
                std::fprintf(stderr, "simulated GPU: threads wait for each other\n");
                std::abort();
            }
            for (Fiber &fiber : fibers) fiber.wait = NONE;
        }
    }
}

} // namespace sim

static void __syncthreads() { sim::stop(sim::BARRIER); }
static void __syncwarp(unsigned mask = 0xffffffffu) { sim::meet(mask, 0); }
template <class T> static T __shfl_sync(unsigned mask, T value, int from, int width = 32)
{
    return sim::of_lane(mask, value, (sim::lane() & ~(width - 1)) | (from & (width - 1)));
}
template <class T> static T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32)
{
    const int from = sim::lane() + int(distance), last = sim::lane() | (width - 1);
    return sim::of_lane(mask, value, from > last ? sim::lane() : from);
}
static unsigned __ballot_sync(unsigned mask, int predicate)
{
    const uint64_t *values = sim::meet(mask, predicate != 0);
    unsigned votes = 0;
    for (int lane = 0; lane < 32; ++lane) votes |= (mask >> lane & 1 && values[lane]) ? 1u << lane : 0u;
    return votes;
}
static void __threadfence() {}
static int __popc(unsigned bits) { return __builtin_popcount(bits); }
static int __ffs(int bits) { return __builtin_ffs(bits); }
static float __int_as_float(int bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T, class U> static T atomicAdd(T *place, U more)
{
    const T before = *place;
    *place += more;
    return before;
}
template <class T, class U> static T atomicMax(T *place, U other)
{
    const T before = *place;
    *place = before < T(other) ? T(other) : before;
    return before;
}
template <class T, class U, class V> static T atomicCAS(T *place, U expected, V value)
{
    const T before = *place;
    if (before == T(expected)) *place = value;
    return before;
}

#define SIM_END                                                                                                                  \
    static constexpr std::size_t sim_shared_bytes = 1 << 18;                                                                     \
    alignas(16) unsigned char tw_shared_bytes[sim_shared_bytes];
#define SIM_KERNEL(name)                                                                                                         \
    extern "C" std::size_t name##__arguments = sim::count(name);                                                                 \
    extern "C" const std::size_t *name##__sizes = sim::sizes(name);                                                              \
    extern "C" void name##__launch(const unsigned *grid, const unsigned *block, void **values)                                   \
    {                                                                                                                            \
        sim::run(grid, block, [](void **all) { sim::call(name, all); }, values, tw_shared_bytes, sim_shared_bytes);              \
    }

#ifdef SIM_OWN_INTEGERS
/* The text defines these for itself. */
#undef INFINITY
#undef INT32_MAX
#undef INT32_MIN
#undef INT64_MAX
#undef INT64_MIN
#define int8_t sim_int8
#define uint8_t sim_uint8
#define int32_t sim_int32
#define uint32_t sim_uint32
#define int64_t sim_int64
#define uint64_t sim_uint64
#endif
