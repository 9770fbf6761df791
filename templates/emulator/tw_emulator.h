/* tw_emulator.h: CUDA kernels as C++ on the processor, with every access checked.
 *
 * The text that is compiled for a GPU includes this file where TW_EMULATOR is defined. The threads of a block
 * are fibers that run one after another from barrier to barrier, in an order of the caller's choice; blocks
 * run one after another, in such an order too. Where the text defines TW_WARPS, warps run from call to call of
 * theirs (tw_warp.h), blocks may wait for each other (tw_flags.h), and where it defines TW_POISON_TRAVELS, junk lanes may compute without values (tw_poison.h). */
#ifndef TW_EMULATOR_H
#define TW_EMULATOR_H

#if defined(TW_POISON_TRAVELS) && !defined(TW_WARPS)
#define TW_WARPS 1
#endif

#include "tw_checks.h"
#include <cmath>
#include <limits>
#include <new>
#include <pthread.h>
#include <type_traits>
#include <utility>

/* ---- What CUDA has and C++ has not ------------------------------------------------------------------- */

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

#define TW_GLOBAL(T) tw_emulator::Global<T>
#define TW_SHARED(T, name, count, byte_offset) \
    const tw_emulator::Shared<T> name = tw_emulator::shared_array<T>(#name, (count), (byte_offset))

/* Moves an element, also one without a value: then the other has none either. */
#define TW_MOVE(name, to, from) (name).move((to), (from))

namespace tw_emulator {

/* ---- Memory as kernels see it --------------------------------------------------------------------------------- */

#ifdef TW_WARPS
/* An index, and the line on which it stands. */
struct Index {
    std::int64_t value;
    int line;
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    Index(I value, int line = __builtin_LINE()) : value(static_cast<std::int64_t>(value)), line(line) {}
    operator std::int64_t() const {
        running.line = line;
        return value;
    }
};
#else
using Index = std::int64_t;
#endif

/* The element at a pointer, whose line is not known. */
#ifdef TW_WARPS
inline const Index ONLY(0, 0);
#else
constexpr Index ONLY = 0;
#endif

/* The value of what has none: not a number. */
template <class T> inline T no_value() {
    return std::numeric_limits<T>::quiet_NaN();
}

/* `p[i]` where it may be read and written. */
template <class Pointer> class Element {
public:
    using Value = typename Pointer::Value;

    Element(const Pointer &pointer, Index index) : pointer_(pointer), index_(index) {}
    Element(const Element &) = default;

    operator Value() const {
        return pointer_.read(index_);
    }
    const Element &operator=(Value value) const {
        pointer_.write(index_, value);
        return *this;
    }
    const Element &operator=(const Element &other) const {
        return *this = static_cast<Value>(other);
    }
    template <class Other> const Element &operator=(const Element<Other> &other) const {
        return *this = static_cast<Value>(static_cast<typename Other::Value>(other));
    }
    const Element &operator+=(Value value) const {
        return *this = static_cast<Value>(*this) + value;
    }
    const Element &operator-=(Value value) const {
        return *this = static_cast<Value>(*this) - value;
    }
    const Element &operator*=(Value value) const {
        return *this = static_cast<Value>(*this) * value;
    }

private:
    const Pointer pointer_;
    const Index index_;
};

/* What `p[i]` is: a value where it cannot be written. */
template <class Self, class T, class Value = std::remove_const_t<T>> struct ItemOf {
    using Type = std::conditional_t<std::is_const_v<T>, Value, Element<Self>>;
};

/* A value that an approximation may give in place of the exact one: so many units in the last place away from it at most,
 * up or down by its bits. */
inline float moved(float exact, int most) {
    std::uint32_t word;
    std::memcpy(&word, &exact, sizeof word);
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude <= std::uint32_t(most) || magnitude >= 0x7f800000u - std::uint32_t(most))
        return exact;
    word += (word * 2654435761u >> 16) % std::uint32_t(2 * most + 1) - std::uint32_t(most);
    std::memcpy(&exact, &word, sizeof word);
    return exact;
}

} // namespace tw_emulator

#ifdef TW_POISON_TRAVELS
#include "tw_poison.h"
#endif

namespace tw_emulator {

#ifndef TW_POISON_TRAVELS
/* Whether a value of this type may be none for a while. */
template <class Value> constexpr bool MAY_BE_POISON = false;

/* What is read of shared memory that nobody has written. */
template <class Value> inline Value unwritten(const char *, std::int64_t) {
    return no_value<Value>();
}

/* What is stored in a field. */
template <class Value> inline Value storable(Value value, const Array &, std::int64_t) {
    return value;
}
#endif

/* What both kinds of pointers can do. */
template <class Self, class T> class Pointer {
public:
    using Value = std::remove_const_t<T>;
    using Item = typename ItemOf<Self, T>::Type;

    Item operator[](Index index) const {
        if constexpr (std::is_const_v<T>)
            return self().read(index);
        else
            return Item(self(), index);
    }
    Item operator*() const {
        return (*this)[ONLY];
    }
    Self operator+(std::int64_t distance) const {
        Self moved = self();
        moved.offset += distance;
        return moved;
    }
    Self operator-(std::int64_t distance) const {
        return *this + -distance;
    }
    Self &operator+=(std::int64_t distance) {
        return self() = *this + distance;
    }
    Self &operator-=(std::int64_t distance) {
        return self() = *this - distance;
    }
    friend Self operator+(std::int64_t distance, const Self &pointer) {
        return pointer + distance;
    }

private:
    const Self &self() const {
        return static_cast<const Self &>(*this);
    }
    Self &self() {
        return static_cast<Self &>(*this);
    }
};

/* A pointer into a field. */
template <class T> class Global : public Pointer<Global<T>, T> {
public:
    using Value = std::remove_const_t<T>;

    const Array *array = nullptr;
    std::int64_t offset = 0;

    Global() = default;
    Global(const Array *array, std::int64_t offset) : array(array), offset(offset) {}
    operator Global<const T>() const {
        return Global<const T>(array, offset);
    }

    Value read(std::int64_t index) const {
        index += offset;
        if (!check_global_read(*array, index))
            return no_value<Value>();
        return static_cast<const Value *>(array->values)[index];
    }
    void write(std::int64_t index, Value value) const {
        index += offset;
        if (check_global_write(*array, index))
            static_cast<Value *>(array->values)[index] = storable(value, *array, index);
    }
};

/* A pointer into shared memory. */
template <class T> class Shared : public Pointer<Shared<T>, T> {
public:
    using Value = std::remove_const_t<T>;

    SharedPlace place = {};
    std::int64_t offset = 0;

    Shared() = default;
    Shared(const SharedPlace &place, std::int64_t offset) : place(place), offset(offset) {}
    operator Shared<const T>() const {
        return Shared<const T>(place, offset);
    }

    Value read(std::int64_t index) const {
        index += offset;
        if (!check_shared_read(place, index, sizeof(T), MAY_BE_POISON<Value>))
            return unwritten<Value>(place.name, index);
        Value value;
        std::memcpy(&value, address(index), sizeof value);
        return value;
    }
    void write(std::int64_t index, Value value) const {
        index += offset;
        if (check_shared_write(place, index, sizeof(T)))
            std::memcpy(address(index), &value, sizeof value);
    }
    void move(std::int64_t to, std::int64_t from) const {
        to += offset;
        from += offset;
        const bool written = check_shared_read(place, from, sizeof(T), true);
        if (check_shared_write(place, to, sizeof(T), written ? 0 : VALUELESS) && written)
            std::memcpy(address(to), address(from), sizeof(T));
    }

private:
    unsigned char *address(std::int64_t index) const {
        return running.context->shared_bytes.data() + place.byte_offset
            + static_cast<std::uint64_t>(index) * sizeof(T);
    }
};

/* An array in the block's shared memory. One that does not fit, or is not aligned, has no elements. */
template <class T> inline Shared<T> shared_array(const char *name, std::int64_t count, std::int64_t byte_offset) {
    static_assert(sizeof(T) % 4 == 0, "shared arrays are watched in words of four bytes");
    const std::int64_t available = static_cast<std::int64_t>(running.launch->shared_bytes);
    const std::int64_t size = static_cast<std::int64_t>(sizeof(T));
    const bool fits = count >= 0 && byte_offset >= 0 && byte_offset % size == 0 && byte_offset <= available
        && count <= (available - byte_offset) / size;
    if (!fits) {
        report_shared(SHARED_PLACE, 0, name, byte_offset + count * size, -1);
        count = 0;
        byte_offset = 0;
    }
    return Shared<T>({name, count, static_cast<std::uint64_t>(byte_offset)}, 0);
}

/* The fields as kernels get them. */
template <class T> inline Global<T> field(int number) {
    return Global<T>(&running.context->fields[static_cast<std::size_t>(number)], 0);
}

/* ---- Blocks and barriers ------------------------------------------------------------------------------------------ */

/* SplitMix64. */
inline std::uint64_t next_random() {
    std::uint64_t word = running.random += 0x9e3779b97f4a7c15u;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

template <class T> inline void shuffle(std::vector<T> &values) {
    for (std::size_t i = values.size(); i > 1; i--)
        std::swap(values[i - 1], values[next_random() % i]);
}

/* 0, 1, ... in the launch's order. */
template <class T> inline void put_in_order(std::vector<T> &values, std::size_t count) {
    values.resize(count);
    for (std::size_t i = 0; i < count; i++)
        values[i] = static_cast<T>(running.launch->order == DESCENDING ? count - 1 - i : i);
    if (running.launch->order == SHUFFLED)
        shuffle(values);
}

inline ThreadState &this_thread() {
    return running.context->threads[running.thread];
}

/* What a fiber executes. */
inline void thread_entry() {
    running.kernel(*running.launch);
    this_thread().ended = true;
    running.context->fibers.pause();
    std::abort();
}

/* After an interval: whether some threads wait; reports where others have ended or wait elsewhere. */
inline bool meet_at_barrier() {
    Context &context = *running.context;
    int waiting = -1, other = -1;
    const int count = static_cast<int>(context.threads.size());
    for (int thread = 0; thread < count && waiting < 0; thread++)
        if (!context.threads[static_cast<std::size_t>(thread)].ended)
            waiting = thread;
    if (waiting < 0)
        return false;
    const int line = context.threads[static_cast<std::size_t>(waiting)].barrier_line;
    for (int thread = 0; thread < count && other < 0; thread++) {
        const ThreadState &state = context.threads[static_cast<std::size_t>(thread)];
        if (state.ended || state.barrier_line != line)
            other = thread;
    }
    if (other >= 0 && !running.diverged) {
        running.diverged = true;
        running.thread = static_cast<Thread>(waiting);
        if (Violation *violation = report(DIVERGENT_BARRIER, 0)) {
            const ThreadState &state = context.threads[static_cast<std::size_t>(other)];
            violation->other_thread = other;
            violation->index = line;
            violation->other_index = state.ended ? -1 : state.barrier_line;
        }
    }
    context.counts.barriers++;
    return true;
}

/* Room for a block of the launch; false where there is no memory. */
inline bool prepare_block(BlockState &state) {
    const Launch &launch = *running.launch;
    const std::uint64_t threads = std::uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
    if (!state.fibers.reserve(static_cast<int>(threads)))
        return false;
    if (state.shared_bytes.size() < launch.shared_bytes) {
        state.shared_bytes.resize(launch.shared_bytes);
        state.shared_shadow.resize((launch.shared_bytes + 3) / 4);
    }
    state.threads.resize(threads);
    for (std::size_t thread = 0; thread < threads; thread++) {
        const std::uint32_t number = static_cast<std::uint32_t>(thread);
        state.threads[thread].index = {number % launch.block[0], number / launch.block[0] % launch.block[1],
                                       number / launch.block[0] / launch.block[1]};
    }
    return true;
}

/* Makes the block ready to run. */
inline void begin_block(std::uint64_t number) {
    Context &context = *running.context;
    std::uint32_t coordinates[3];
    block_of_number(number, coordinates);
    running.block = {coordinates[0], coordinates[1], coordinates[2]};
    running.block_start = running.stamp;
    running.block_number = number;
    running.diverged = false;
    running.interval = 0;
    context.block_stamps.push_back(running.stamp);
    context.block_numbers.push_back(number);
    context.counts.blocks++;
    for (std::size_t thread = 0; thread < context.threads.size(); thread++) {
        context.threads[thread].ended = false;
        context.fibers.start(static_cast<int>(thread), thread_entry);
    }
    put_in_order(context.order, context.threads.size());
}

#ifndef TW_WARPS
inline void barrier(int line) {
    this_thread().barrier_line = line;
    running.context->fibers.pause();
}

inline void run_block(std::uint64_t number) {
    Context &context = *running.context;
    begin_block(number);
    do {
        for (int thread : context.order) {
            if (context.threads[static_cast<std::size_t>(thread)].ended)
                continue;
            running.thread = static_cast<Thread>(thread);
            context.fibers.resume(thread);
        }
        if (running.launch->order == SHUFFLED)
            shuffle(context.order);
        const bool waiting = meet_at_barrier();
        running.stamp++;
        running.interval++;
        if (!waiting)
            break;
    } while (true);
}

inline bool run_blocks(const std::vector<std::uint64_t> &blocks) {
    if (!prepare_block(*running.context))
        return false;
    for (std::uint64_t block : blocks)
        run_block(block);
    return true;
}
#endif

} // namespace tw_emulator

#ifdef TW_WARPS
#include "tw_warp.h"
#endif

namespace tw_emulator {

/* Long before stamps could overflow: forgets all accesses, which is right between launches. */
inline void restart_stamps(Context &context) {
    const auto forget = [](Shadow &shadow) {
        const unsigned char flags = shadow.flags;
        shadow = Shadow();
        shadow.flags = flags;
    };
    for (Array &array : context.fields)
        for (std::int64_t i = 0; i < array.count; i++)
            forget(array.shadow[i]);
    for (Shadow &shadow : context.shared_shadow)
        forget(shadow);
#ifdef TW_WARPS
    for (Resident *resident : context.residents)
        for (Shadow &shadow : resident->state.shared_shadow)
            forget(shadow);
    forget_all_readings(context);
#endif
    context.stamp = 1;
}

/* Launches of one library take turns: they share what runs. */
struct OneAtATime {
    static pthread_mutex_t &lock() {
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        return lock;
    }
    OneAtATime() {
        pthread_mutex_lock(&lock());
    }
    ~OneAtATime() {
        pthread_mutex_unlock(&lock());
    }
};

/* Returns 0, or 1 where there is not enough memory. */
inline int launch(Context &context, const Launch &launch, void (*kernel)(const Launch &)) {
    const OneAtATime turn;
    const std::uint64_t threads = std::uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
    if (threads == 0 || threads >= NO_THREAD)
        return 1;
    if (context.stamp > (1u << 31))
        restart_stamps(context);
    running = {};
    running.context = &context;
    running.launch = &launch;
    running.kernel = kernel;
    running.stamp = running.launch_start = context.stamp;
    running.block_size = {launch.block[0], launch.block[1], launch.block[2]};
    running.grid_size = {launch.grid[0], launch.grid[1], launch.grid[2]};
    running.random = launch.seed;
    context.block_stamps.clear();
    context.block_numbers.clear();
    context.counts.launches++;
    std::vector<std::uint64_t> blocks;
    put_in_order(blocks, std::size_t(launch.grid[0]) * launch.grid[1] * launch.grid[2]);
    const bool done = run_blocks(blocks);
    context.stamp = running.stamp;
    return done ? 0 : 1;
}

/* A context for these fields that describes the first `capacity` violations of each kind;
 * null without memory. */
inline Context *create(const Field *fields, std::int32_t count, std::int64_t capacity) {
    Context *context = new (std::nothrow) Context;
    if (!context)
        return nullptr;
    context->capacity = capacity;
    context->fields.resize(static_cast<std::size_t>(count));
    for (std::int32_t number = 0; number < count; number++) {
        Array &array = context->fields[static_cast<std::size_t>(number)];
        array.values = fields[number].values;
        array.count = fields[number].count;
        array.number = number;
        array.shadow = static_cast<Shadow *>(std::malloc(sizeof(Shadow) * (std::size_t(array.count) + 1)));
        if (!array.shadow) {
            delete context;
            return nullptr;
        }
        for (std::int64_t i = 0; i < array.count; i++) {
            array.shadow[i] = Shadow();
            array.shadow[i].flags = fields[number].flags[i];
        }
    }
    return context;
}

} // namespace tw_emulator

#define threadIdx (tw_emulator::this_thread().index)
#define blockIdx (tw_emulator::running.block)
#define blockDim (tw_emulator::running.block_size)
#define gridDim (tw_emulator::running.grid_size)

/* The line tells barriers apart. */
inline void __syncthreads(int line = __builtin_LINE()) {
    tw_emulator::barrier(line);
}

#ifdef TW_POISON_TRAVELS
#define float tw_emulator::Number<float>
#define double tw_emulator::Number<double>
#endif

#endif
