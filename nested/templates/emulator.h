/* tw_nested_emulator.h: the processor as a device, for kernels whose accesses are checked. */

namespace tw_emulator {

/* What calls a kernel with its arguments; the program's text has them. */
typedef void (*Caller)(const Launch &);
extern const Caller callers[];

static std::int32_t chosen_order = ASCENDING, chosen_pacing = FIRST_AHEAD;
static std::uint64_t chosen_seed = 0;
static std::int64_t violations = 0;
static char described[2048] = "";

static const char *const KIND_NAMES[KINDS] = {
    "an access outside of an array", "an access of padding", "a read of what nobody wrote", "a write of what is given",
    "a race", "a race between blocks", "an access outside of a shared array", "a read of shared memory that nobody wrote",
    "a race in shared memory", "a shared array that does not fit", "a divergent barrier", "lanes that do not meet",
    "a wrong mask or width", "a lane that takes no part", "poison stored", "poison decides", "a misused link", "a deadlock",
    "a misaligned access", "a pending copy", "a block that waits for ever"};

static void *take(void *, std::int64_t bytes, int) { return std::malloc(static_cast<std::size_t>(bytes)); }
static void give_back(void *, void *memory, int) { std::free(memory); }
static int copy(void *, void *to, const void *from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return 0;
}
static int wait(void *) { return 0; }
static Context *used = nullptr;
static int start(void *, int kernel, std::int64_t blocks, int threads, int shared_bytes, void **arguments) {
    Launch own = {};
    own.kernel = kernel;
    own.order = static_cast<Order>(chosen_order);
    own.pacing = static_cast<Pacing>(chosen_pacing);
    own.seed = chosen_seed + static_cast<std::uint64_t>(used->counts.launches);
    own.grid[0] = static_cast<std::uint32_t>(blocks);
    own.block[0] = static_cast<std::uint32_t>(threads);
    own.grid[1] = own.grid[2] = own.block[1] = own.block[2] = 1;
    own.shared_bytes = static_cast<std::uint64_t>(shared_bytes);
    /* Callers know the types of what these point to. */
    own.integers = reinterpret_cast<const std::int64_t *>(arguments);
    return launch(*used, own, callers[kernel]);
}
/* Few blocks, so that each has several shares. */
static const tw_machine MACHINE = {nullptr, 3, take, give_back, copy, start, wait};

template <class T> static T argument(const Launch &launch, int number) {
    void *const *const arguments = reinterpret_cast<void *const *>(launch.integers);
    return *static_cast<const T *>(arguments[number]);
}

/* Calls a kernel with what its parameters' types say of the arguments. */
template <auto kernel> struct Call;
template <class... A, void (*kernel)(A...)> struct Call<kernel> {
    static void make(const Launch &launch) { make(launch, std::index_sequence_for<A...>()); }
    template <std::size_t... i> static void make(const Launch &launch, std::index_sequence<i...>) {
        kernel(argument<std::decay_t<A>>(launch, static_cast<int>(i))...);
    }
};

/* Keeps what was found, for the caller. */
static void describe(const Context &context) {
    violations = context.counts.violations + unwritten_results;
    described[0] = 0;
    std::size_t used_bytes = 0;
    for (const Violation &own : context.violations) {
        const int more = std::snprintf(described + used_bytes, sizeof described - used_bytes,
            "%s: kernel %d, block %u, thread %d (and %d), array %s %d, element %lld, line %d (and %lld) %s\n", KIND_NAMES[own.kind],
            own.kernel, own.block[0], own.thread, own.other_thread, own.array, own.field, static_cast<long long>(own.index),
            own.line, static_cast<long long>(own.other_index), own.detail);
        if (more < 0 || used_bytes + static_cast<std::size_t>(more) >= sizeof described) break;
        used_bytes += static_cast<std::size_t>(more);
    }
    if (unwritten_results > 0)
        std::snprintf(described + used_bytes, sizeof described - used_bytes, "%lld elements of results were not written\n",
                      static_cast<long long>(unwritten_results));
}
} // namespace tw_emulator

/* How threads and warps are ordered from now on. */
extern "C" __attribute__((visibility("default"))) void tw_emulated_order(int order, int pacing, uint64_t seed)
{
    tw_emulator::chosen_order = order;
    tw_emulator::chosen_pacing = pacing;
    tw_emulator::chosen_seed = seed;
}

/* What the last run did that it must not do: how often, and the first of each kind. */
extern "C" __attribute__((visibility("default"))) int64_t tw_emulated_violations(const char **text)
{
    *text = tw_emulator::described;
    return tw_emulator::violations;
}
