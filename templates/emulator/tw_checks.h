/* tw_checks.h: what the emulator remembers of every element of memory, and the checks made from it.
 *
 * Time is counted in stamps: every barrier interval of every block has its own, ascending in the order of
 * execution. Each element of memory remembers the stamp and the thread of its last accesses. Two accesses with
 * the same stamp happened in one barrier interval; an access with a stamp before the first one of the running
 * block, but not before that of the launch, happened in another block of the launch. Nothing has to be
 * cleared between intervals, blocks and launches.
 *
 * Where the text defines TW_WARPS, a barrier is not all that orders two accesses: tw_clocks.h has the checks. */
#ifndef TW_CHECKS_H
#define TW_CHECKS_H

#include "tw_fibers.h"
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tw_emulator {

/* ---- What the host says and gets: the same types stand in execution/src/emulator/foreign.rs ------------- */

/* A field's array and what is known of each of its elements: INITIALISED, PADDING, FIXED. */
struct Field {
    void *values;
    const unsigned char *flags;
    std::int64_t count;
};

constexpr unsigned char INITIALISED = 1, PADDING = 2, FIXED = 4;

/* Of shared memory: what was moved there had no value. */
constexpr unsigned char VALUELESS = 1;

/* Of the threads of a block between two meetings, and of the blocks of a launch. */
enum Order : std::int32_t { ASCENDING, DESCENDING, SHUFFLED };

/* Which warp goes on where several can: the first or the last one as far as it can, all in turn, any. */
enum Pacing : std::int32_t { FIRST_AHEAD, LAST_AHEAD, IN_TURN, AT_RANDOM };

struct Launch {
    std::int32_t kernel;
    Order order;
    Pacing pacing;
    std::uint64_t seed;
    std::uint32_t grid[3];
    std::uint32_t block[3];
    std::uint64_t shared_bytes;
    const std::int64_t *integers;
    const double *parameters;
};

enum Kind : std::int32_t {
    GLOBAL_BOUNDS,
    GLOBAL_PADDING,
    GLOBAL_UNWRITTEN,
    GLOBAL_FIXED,
    GLOBAL_RACE,
    BLOCK_RACE,
    SHARED_BOUNDS,
    SHARED_UNWRITTEN,
    SHARED_RACE,
    SHARED_PLACE,
    DIVERGENT_BARRIER,
    /* The rest needs TW_WARPS. */
    DIVERGENT_WARP,
    WRONG_MASK,
    INACTIVE_LANE,
    POISON_STORED,
    POISON_DECIDES,
    LINK_MISUSED,
    DEADLOCK,
    MISALIGNED,
    COPY_PENDING,
    ENDLESS_SPIN,
    KINDS
};

struct Violation {
    Kind kind;
    std::int32_t kernel;
    std::uint32_t block[3];
    std::uint32_t other_block[3];
    std::int32_t thread;
    std::int32_t other_thread; /* -1: none */
    std::int32_t writes;       /* 1: `thread` writes; 2: `other_thread` writes or wrote; 3: both */
    std::int32_t field;        /* -1: a shared array or none */
    std::int64_t index;        /* where threads do not meet: the line */
    std::int64_t other_index;  /* the line of the other; 0: not known; -1: it had ended */
    std::int64_t interval;     /* barriers that the block had passed */
    std::int32_t line;         /* of the text; 0: not known */
    char array[48];            /* name of a shared array */
    char detail[160];          /* where a poisoned value came from; what is wrong with a link */
};

struct Counts {
    std::int64_t launches, blocks, barriers, violations, described;
    /* Elements of fields that were read and written. */
    std::int64_t reads, writes;
};

/* ---- Shadow memory --------------------------------------------------------------------------------------- */

using Stamp = std::uint32_t;
using Thread = std::uint16_t;
constexpr Thread NO_THREAD = 0xffff;

/* What is remembered of four bytes of shared memory or of one element of a field. */
struct Shadow {
    Stamp write = 0;
    Stamp read = 0;
    /* The last reading in a block before that of `read`. */
    Stamp older_read = 0;
    Thread writer = NO_THREAD;
    /* Two different readers with the stamp `read`. */
    Thread reader = NO_THREAD, second_reader = NO_THREAD;
    Thread older_reader = NO_THREAD;
    unsigned char flags = 0;
#ifdef TW_WARPS
    /* Its set of readings besides `read`; 0: none. */
    std::uint32_t further = 0;
    /* Of the last write. */
    std::int32_t line = 0;
#endif
};

struct Array {
    void *values = nullptr;
    std::int64_t count = 0;
    Shadow *shadow = nullptr;
    std::int32_t number = 0;
};

struct Index3 {
    std::uint32_t x, y, z;
};

} // namespace tw_emulator

#ifdef TW_WARPS
#include "tw_warp_state.h"
#else
namespace tw_emulator {
struct ThreadWarpState {};
struct BlockWarpState {};
struct ContextWarpState {};
} // namespace tw_emulator
#endif

namespace tw_emulator {

/* One fiber's view of the thread that it is. */
struct ThreadState : ThreadWarpState {
    Index3 index;
    bool ended;
    int barrier_line;
};

/* What a block has while it runs. */
struct BlockState : BlockWarpState {
    std::vector<unsigned char> shared_bytes;
    std::vector<Shadow> shared_shadow;
    std::vector<ThreadState> threads;
    std::vector<int> order;
    tw_fibers::Fibers fibers;
};

struct Context : ContextWarpState, BlockState {
    std::vector<Array> fields;
    std::vector<Violation> violations;
    /* How many violations of each kind are described, and how many there were. */
    std::int64_t capacity = 0;
    std::int64_t of_kind[KINDS] = {};
    Counts counts = {};
    Stamp stamp = 1;
    /* Of the launch: stamps at which its blocks begin and go on, and their numbers, in the order of execution. */
    std::vector<Stamp> block_stamps;
    std::vector<std::uint64_t> block_numbers;

    ~Context();
};

/* What runs now. One launch at a time: `launch` holds a lock. */
struct Running {
    Context *context;
    const Launch *launch;
    void (*kernel)(const Launch &);
    /* Copies of what every access needs. */
    Stamp stamp, block_start, launch_start;
    Thread thread;
    Index3 block, block_size, grid_size;
    std::uint64_t random, block_number;
    bool diverged;
    /* Whether blocks of the launch take turns. */
    bool interleaved;
    /* Barriers that the block has passed, and the line of the last access or call where that is known. */
    std::int64_t interval;
    std::int32_t line;
};

#ifdef TW_WARPS
/* A block that has a place (tw_flags.h). */
struct Resident {
    BlockState state;
    Running kept = {};
    std::uint64_t number = 0;
    bool lives = false;
    /* Nothing but waiting threads; how many flags had been set then. */
    bool waits = false;
    std::int64_t sets = 0;
};
#endif

inline Context::~Context() {
    for (Array &array : fields)
        std::free(array.shadow);
#ifdef TW_WARPS
    for (Resident *resident : residents)
        delete resident;
#endif
}

/* One for the kernels and for what runs them, which are compiled apart. */
__attribute__((visibility("hidden"))) inline Running running;

/* ---- Reports ------------------------------------------------------------------------------------------------ */

/* The number of the block that ran at a stamp of this launch. */
inline std::uint64_t block_of(Stamp stamp) {
    const Context &context = *running.context;
    std::size_t low = 0, high = context.block_stamps.size() - 1;
    while (low < high) {
        const std::size_t middle = (low + high + 1) / 2;
        if (context.block_stamps[middle] > stamp)
            high = middle - 1;
        else
            low = middle;
    }
    return context.block_numbers[low];
}

inline void block_of_number(std::uint64_t number, std::uint32_t *block) {
    const Launch &launch = *running.launch;
    block[0] = static_cast<std::uint32_t>(number % launch.grid[0]);
    block[1] = static_cast<std::uint32_t>(number / launch.grid[0] % launch.grid[1]);
    block[2] = static_cast<std::uint32_t>(number / launch.grid[0] / launch.grid[1]);
}

template <std::size_t size> inline void copy_text(char (&to)[size], const char *text) {
    std::strncpy(to, text, size - 1);
}

/* Counts a violation; returns where to describe it, or null where enough are described. */
__attribute__((noinline, cold)) inline Violation *report(Kind kind, int writes) {
    Context &context = *running.context;
    context.counts.violations++;
    if (++context.of_kind[kind] > context.capacity)
        return nullptr;
    context.counts.described++;
    Violation violation = {};
    violation.kind = kind;
    violation.kernel = running.launch->kernel;
    const Index3 block = running.block;
    const std::uint32_t coordinates[3] = {block.x, block.y, block.z};
    std::memcpy(violation.block, coordinates, sizeof coordinates);
    std::memcpy(violation.other_block, coordinates, sizeof coordinates);
    violation.thread = running.thread;
    violation.other_thread = -1;
    violation.writes = writes;
    violation.field = -1;
    violation.interval = running.interval;
    violation.line = running.line;
    context.violations.push_back(violation);
    return &context.violations.back();
}

__attribute__((noinline, cold)) inline void
report_global(Kind kind, int writes, const Array &array, std::int64_t index, int other_thread, Stamp other,
              int other_line = 0) {
    Violation *violation = report(kind, writes);
    if (!violation)
        return;
    violation->field = array.number;
    violation->index = index;
    violation->other_thread = other_thread;
    violation->other_index = other_line;
    if (kind == BLOCK_RACE)
        block_of_number(block_of(other), violation->other_block);
}

__attribute__((noinline, cold)) inline void
report_shared(Kind kind, int writes, const char *name, std::int64_t index, int other_thread,
              int other_line = 0) {
    Violation *violation = report(kind, writes);
    if (!violation)
        return;
    copy_text(violation->array, name);
    violation->index = index;
    violation->other_thread = other_thread;
    violation->other_index = other_line;
}

/* ---- Checks ------------------------------------------------------------------------------------------------- */

/* A part of the block's shared memory. */
struct SharedPlace {
    const char *name;
    std::int64_t count;
    std::uint64_t byte_offset;
};

#ifndef TW_WARPS

/* Whether something with this stamp happened in another block of this launch. */
inline bool in_other_block(Stamp stamp) {
    return stamp >= running.launch_start && stamp < running.block_start;
}

/* Remembers a read by the running thread. */
inline void remember_read(Shadow &shadow) {
    if (shadow.read != running.stamp) {
        if (in_other_block(shadow.read)) {
            shadow.older_read = shadow.read;
            shadow.older_reader = shadow.reader;
        }
        shadow.read = running.stamp;
        shadow.reader = running.thread;
        shadow.second_reader = NO_THREAD;
    } else if (shadow.reader != running.thread) {
        shadow.second_reader = running.thread;
    }
}

/* A thread other than the running one that read in this interval; NO_THREAD where there is none. */
inline Thread other_reader(const Shadow &shadow) {
    if (shadow.read != running.stamp)
        return NO_THREAD;
    return shadow.reader != running.thread ? shadow.reader : shadow.second_reader;
}

/* Whether the element may be read; false only where it has no value. */
__attribute__((noinline)) inline bool check_global_read(const Array &array, std::int64_t index) {
    if (index < 0 || index >= array.count) {
        report_global(GLOBAL_BOUNDS, 0, array, index, -1, 0);
        return false;
    }
    Shadow &shadow = array.shadow[index];
    if (!(shadow.flags & INITIALISED)) {
        report_global(shadow.flags & PADDING ? GLOBAL_PADDING : GLOBAL_UNWRITTEN, 0, array, index, -1, 0);
        return false;
    }
    if (shadow.write == running.stamp) {
        if (shadow.writer != running.thread)
            report_global(GLOBAL_RACE, 2, array, index, shadow.writer, 0);
    } else if (in_other_block(shadow.write)) {
        report_global(BLOCK_RACE, 2, array, index, shadow.writer, shadow.write);
    }
    remember_read(shadow);
    running.context->counts.reads++;
    return true;
}

/* Whether the element may be written. */
__attribute__((noinline)) inline bool check_global_write(const Array &array, std::int64_t index) {
    if (index < 0 || index >= array.count) {
        report_global(GLOBAL_BOUNDS, 1, array, index, -1, 0);
        return false;
    }
    Shadow &shadow = array.shadow[index];
    if (shadow.flags & (PADDING | FIXED)) {
        report_global(shadow.flags & PADDING ? GLOBAL_PADDING : GLOBAL_FIXED, 1, array, index, -1, 0);
        return !(shadow.flags & PADDING);
    }
    if (shadow.write == running.stamp && shadow.writer != running.thread)
        report_global(GLOBAL_RACE, 3, array, index, shadow.writer, 0);
    else if (other_reader(shadow) != NO_THREAD)
        report_global(GLOBAL_RACE, 1, array, index, other_reader(shadow), 0);
    else if (in_other_block(shadow.write))
        report_global(BLOCK_RACE, 3, array, index, shadow.writer, shadow.write);
    else if (in_other_block(shadow.read))
        report_global(BLOCK_RACE, 1, array, index, shadow.reader, shadow.read);
    else if (in_other_block(shadow.older_read))
        report_global(BLOCK_RACE, 1, array, index, shadow.older_reader, shadow.older_read);
    shadow.write = running.stamp;
    shadow.writer = running.thread;
    shadow.flags |= INITIALISED;
    running.context->counts.writes++;
    return true;
}

/* Whether the element may be read; false only where it has no value, which is a violation unless `moves`. */
__attribute__((noinline)) inline bool
check_shared_read(const SharedPlace &place, std::int64_t index, std::uint64_t bytes, bool moves = false) {
    if (index < 0 || index >= place.count) {
        report_shared(SHARED_BOUNDS, 0, place.name, index, -1);
        return false;
    }
    const std::uint64_t first = (place.byte_offset + static_cast<std::uint64_t>(index) * bytes) / 4;
    bool written = true;
    for (std::uint64_t word = first; word < first + bytes / 4; word++) {
        Shadow &shadow = running.context->shared_shadow[word];
        if (shadow.write < running.block_start || (shadow.flags & VALUELESS)) {
            if (written && !moves)
                report_shared(SHARED_UNWRITTEN, 0, place.name, index, -1);
            written = false;
        }
        if (shadow.write == running.stamp && shadow.writer != running.thread)
            report_shared(SHARED_RACE, 2, place.name, index, shadow.writer);
        remember_read(shadow);
    }
    return written;
}

/* Whether the element may be written, with these flags afterwards. */
__attribute__((noinline)) inline bool
check_shared_write(const SharedPlace &place, std::int64_t index, std::uint64_t bytes, unsigned char flags = 0) {
    if (index < 0 || index >= place.count) {
        report_shared(SHARED_BOUNDS, 1, place.name, index, -1);
        return false;
    }
    const std::uint64_t first = (place.byte_offset + static_cast<std::uint64_t>(index) * bytes) / 4;
    for (std::uint64_t word = first; word < first + bytes / 4; word++) {
        Shadow &shadow = running.context->shared_shadow[word];
        if (shadow.write == running.stamp && shadow.writer != running.thread)
            report_shared(SHARED_RACE, 3, place.name, index, shadow.writer);
        else if (other_reader(shadow) != NO_THREAD)
            report_shared(SHARED_RACE, 1, place.name, index, other_reader(shadow));
        shadow.flags = flags;
        shadow.write = running.stamp;
        shadow.writer = running.thread;
    }
    return true;
}

#endif

} // namespace tw_emulator

#ifdef TW_WARPS
#include "tw_clocks.h"
#endif

#endif
