/* What generated kernels need to be C++: each thread of a block is a fiber, and a barrier goes on to the next one. */
#include <cmath>
#include <cstddef>
#include <cstdint>
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
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(bytes) __attribute__((aligned(bytes)))

namespace sim {

struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    uint3 thread;
    bool done;
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

/* All threads of a block, from barrier to barrier; then the next block. */
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
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.data();
            fiber.context.uc_stack.ss_size = fiber.stack.size();
            makecontext(&fiber.context, enter, 0);
        }
        for (bool more = true; more;) {
            more = false;
            for (running = 0; running < threads; ++running) {
                if (fibers[running].done) continue;
                threadIdx = fibers[running].thread;
                swapcontext(&scheduler, &fibers[running].context);
                more |= !fibers[running].done;
            }
        }
    }
}

} // namespace sim

static void __syncthreads() { swapcontext(&sim::fibers[sim::running].context, &sim::scheduler); }

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
