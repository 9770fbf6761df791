/* tw_warp_state.h: what the emulator keeps of warps, links and copies that are under way. */
#ifndef TW_WARP_STATE_H
#define TW_WARP_STATE_H

#include "tw_text.h"

namespace tw_emulator {

/* The standard library has these in its largest header. */
template <class T> inline T larger(T a, T b) {
    return a < b ? b : a;
}
template <class T> inline T smaller(T a, T b) {
    return b < a ? b : a;
}

constexpr int WARP = 32;
constexpr std::uint32_t ALL_LANES = 0xffffffffu;

/* What a thread asks of its warp. From LINK_POST on it is the whole warp that asks. */
enum Operation : std::uint8_t {
    NOTHING,
    SYNCWARP,
    SHUFFLE,
    SHUFFLE_UP,
    SHUFFLE_DOWN,
    SHUFFLE_XOR,
    BALLOT,
    ANY,
    ALL,
    LINK_POST,
    LINK_WAIT,
    NAMED_BARRIER
};

/* A call that the lanes of a warp make together. */
struct Request {
    Operation operation = NOTHING;
    /* A lane without a neighbour gets poison instead of its own value. */
    bool shifts = false;
    int line = 0;
    std::uint32_t mask = 0;
    int width = WARP;
    int bytes = 0;
    /* Shuffles: source lane, distance or mask. */
    int argument = 0;
    /* The lane's value or its predicate; then the result. */
    std::uint64_t value = 0;
    /* The lane whose value the result would be, which gave none; -1: there is a value. */
    int missing = -1;
    /* Links: number of the link, index and value. Named barriers: number, -, threads. */
    int object = 0;
    std::int64_t index = 0, count = 0;

    bool same_call(const Request &other) const {
        return operation == other.operation && line == other.line && mask == other.mask
            && width == other.width && bytes == other.bytes && shifts == other.shifts
            && object == other.object && index == other.index && count == other.count;
    }
};

/* A copy from global to shared memory that may land at any time until its thread waits for it. */
struct Copy {
    const struct Array *from;
    std::int64_t from_index;
    const char *name;
    std::uint64_t first_byte;
    std::int64_t index;
    int element_bytes, count;
    std::int64_t group;
    /* When it began, and what was there then. */
    Stamp begun;
    unsigned char seen[16];
};

enum class Stop : std::uint8_t { RUNNABLE, AT_WARP, AT_BARRIER, AT_FLAG };

/* Numbers of messages, as a set. */
using Messages = std::vector<std::uint64_t>;

/* What a thread knew at a fence: of each thread of its block until when, and of other blocks by their messages. */
struct Message {
    std::uint64_t block = 0;
    std::vector<Stamp> clock;
    Messages known;
};

struct ThreadWarpState {
    Stop stop = Stop::RUNNABLE;
    Request request;
    std::vector<Copy> copies;
    /* The group of copies that is open. */
    std::int64_t copy_group = 0;
    /* Messages of other blocks: those that order what they did before, and those that were seen since the last fence. */
    Messages known, seen;
    /* What it knew at its last fence. */
    Message fenced;
    /* What it waits for: a value in a flag, and how many flags had been set when it looked. */
    const struct Array *flags = nullptr;
    std::int64_t flag = 0, least = 0, sets = 0;
};

/* A value posted to a counter, with all that the warp knew then. */
struct Post {
    std::int64_t value;
    int warp;
    std::vector<Stamp> clock;
};

struct Counter {
    Stamp cleared = 0;
    Thread clearer = NO_THREAD;
    /* Ascending in value, each ordered before the next one. */
    std::vector<Post> posts;
};

struct LinkState {
    Text name;
    std::uint64_t byte_offset;
    std::vector<Counter> counters;
};

/* A reading by one thread. */
struct Reading {
    Stamp stamp;
    Thread thread;
};

/* Where a poisoned value came from. */
struct Origin {
    const char *kind;
    const char *array;
    int line;
    Text text;
};

struct BlockWarpState {
    /* Threads of the block, and warps. */
    int thread_count = 0, warps = 0;
    /* lane_clocks[t * WARP + m]: what thread t knows of lane m of its own warp.
     * warp_clocks[w * warps + v]: what the lanes of warp w know of all lanes of warp v. */
    std::vector<Stamp> lane_clocks, warp_clocks;
    std::vector<LinkState> links;
    /* Words of shared memory that the running block has set apart: for counters, or as a copy's destination. */
    std::vector<std::uint64_t> flagged_words;
};

/* The last message of a flag. */
struct Flag {
    std::int32_t array;
    std::int64_t index;
    std::uint32_t message;
};

struct ContextWarpState {
    /* Sets of readings of elements that several threads read; number 0 is never used. */
    std::vector<std::vector<Reading>> readings = std::vector<std::vector<Reading>>(1);
    std::vector<std::uint32_t> free_readings;
    /* Of the launch: what was told by flags, and the flags; how many times one was set. */
    std::vector<Message> messages;
    std::vector<Flag> flags;
    std::int64_t sets = 0;
    /* A block that has set a flag lets others go on; blocks are given up. */
    bool gives_way = false, given_up = false;
    /* Blocks that take turns, each on a fiber of its own. */
    tw_fibers::Fibers blocks;
    std::vector<struct Resident *> residents;
    struct Resident *resident = nullptr;
    /* Where poisoned values came from; a value has the number. */
    std::vector<Origin> origins;
};

} // namespace tw_emulator

#endif
