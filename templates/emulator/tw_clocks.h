/* tw_clocks.h: races judged by what is ordered, for kernels whose warps hand over to each other.
 *
 * Let -> be the least strict order on what the threads of a block do such that
 *   (1) what a thread does is ordered as in its program;
 *   (2) if a set P of threads meets (__syncwarp: the lanes of the mask; a post or a wait: its warp; a barrier:
 *       its threads), then what one of P did before is -> what any of P does after. Shuffles and votes order
 *       no memory;
 *   (3) if warp v posts x to a counter and warp w waits there for y, and x is the first value >= y posted, then
 *       what the lanes of v did before the post is -> what the lanes of w do after the wait. Later posts that
 *       happen to have been made by then order nothing: no other run needs to have seen them.
 * Two accesses of a block to one element, one of them a write, are a race unless one -> the other.
 *
 * The emulator does one thing after the other in an order that contains ->, so for a past access a and the present
 * one of thread t only a -> t's present is open. Let time(a) be the number of meetings, posts and waits that were
 * complete before a, in all of the run. Each thread has a clock C: C(s) is the greatest time such that all that s
 * did at times <= C(s) is -> t's present. Then a of thread s is -> t's present  <=>  s = t or time(a) <= C(s):
 *   - a meeting, a post or a wait at time x sets C(s) = x for the s that it orders, and time is x + 1 before
 *     any of these goes on; so what s does later has a time > x, and what it did has one <= x;
 *   - C grows by nothing else than joins, max over s, of clocks of those who are ordered before.
 * What comes from another warp comes by calls of the whole warp, and what is posted is known of whole warps. So
 * clocks are kept as two tables: what a thread knows of the lanes of its warp, and what a warp knows of warps.
 *
 * Blocks are ordered by flags alone (tw_flags.h): if a thread of block B makes a fence and then sets a flag, and a thread
 * of block A sees that value and then makes a fence, then what was -> the first fence is -> what the latter does next.
 *
 * Of each element the last write and the readings since are remembered: a reading that is -> a later reading needs
 * no memory, for a write that is ordered after the later one is ordered after both. */
#ifndef TW_CLOCKS_H
#define TW_CLOCKS_H

namespace tw_emulator {

/* Further flags of words of shared memory: a copy is on its way there; a counter of a link. */
constexpr unsigned char PENDING = 2, COUNTER = 4;

inline Stamp &lane_clock(int thread, int lane) {
    return running.context->lane_clocks[static_cast<std::size_t>(thread * WARP + lane)];
}

inline Stamp &warp_clock(int warp, int of) {
    return running.context->warp_clocks[static_cast<std::size_t>(warp * running.context->warps + of)];
}

/* Whether what `other` did at this time is ordered before the present of `thread`. */
inline bool is_ordered(Stamp time, int other, int thread) {
    if (other == thread)
        return true;
    return time <= (other / WARP == thread / WARP ? lane_clock(thread, other % WARP)
                                                  : warp_clock(thread / WARP, other / WARP));
}

/* Whether it was in this block. */
inline bool in_this_block(Stamp time) {
    return time >= running.block_start && (!running.interleaved || block_of(time) == running.block_number);
}

/* Whether it was in this block, and nothing orders it before the present of the running thread. */
inline bool is_concurrent(Stamp time, Thread other) {
    return in_this_block(time) && !is_ordered(time, other, running.thread);
}

inline bool has_message(const Messages &messages, std::size_t number) {
    return number / 64 < messages.size() && (messages[number / 64] >> number % 64 & 1);
}

/* Whether it was in another block of this launch, and no message orders it before the present of the running thread. */
inline bool in_other_block(Stamp time, Thread other) {
    if (time < running.launch_start || in_this_block(time))
        return false;
    const Context &context = *running.context;
    const Messages &known = context.threads[running.thread].known;
    if (context.messages.empty())
        return true;
    const std::uint64_t block = block_of(time);
    for (std::size_t number = 0; number < context.messages.size(); number++) {
        const Message &message = context.messages[number];
        if (has_message(known, number) && message.block == block && other < message.clock.size()
            && time <= message.clock[other])
            return false;
    }
    return true;
}

inline void forget_readings(Shadow &shadow) {
    if (!shadow.further)
        return;
    running.context->readings[shadow.further].clear();
    running.context->free_readings.push_back(shadow.further);
    shadow.further = 0;
}

inline void forget_all_readings(Context &context) {
    context.readings.assign(1, {});
    context.free_readings.clear();
}

/* A thread that read in this block without an order between that and the present; NO_THREAD: none. */
inline Thread concurrent_reader(const Shadow &shadow) {
    if (is_concurrent(shadow.read, shadow.reader))
        return shadow.reader;
    if (shadow.further && in_this_block(shadow.read))
        for (const Reading &reading : running.context->readings[shadow.further])
            if (is_concurrent(reading.stamp, reading.thread))
                return reading.thread;
    return NO_THREAD;
}

/* Remembers a read by the running thread. */
inline void remember_read(Shadow &shadow) {
    if (!in_this_block(shadow.read)) {
        if (in_other_block(shadow.read, shadow.reader)) {
            shadow.older_read = shadow.read;
            shadow.older_reader = shadow.reader;
        }
        forget_readings(shadow);
    } else if (is_concurrent(shadow.read, shadow.reader)) {
        Context &context = *running.context;
        if (!shadow.further) {
            if (context.free_readings.empty()) {
                context.free_readings.push_back(static_cast<std::uint32_t>(context.readings.size()));
                context.readings.emplace_back();
            }
            shadow.further = context.free_readings.back();
            context.free_readings.pop_back();
        }
        std::vector<Reading> &readings = context.readings[shadow.further];
        for (Reading &reading : readings)
            if (!is_concurrent(reading.stamp, reading.thread)) {
                reading = {running.stamp, running.thread};
                return;
            }
        readings.push_back({running.stamp, running.thread});
        return;
    }
    shadow.read = running.stamp;
    shadow.reader = running.thread;
}

/* Remembers a write by the running thread: what it is ordered after needs no memory, the rest is reported. */
inline void remember_write(Shadow &shadow) {
    if (in_this_block(shadow.read)) {
        shadow.read = 0;
        shadow.reader = NO_THREAD;
    }
    forget_readings(shadow);
    shadow.write = running.stamp;
    shadow.writer = running.thread;
    shadow.line = running.line;
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
    if (is_concurrent(shadow.write, shadow.writer))
        report_global(GLOBAL_RACE, 2, array, index, shadow.writer, 0, shadow.line);
    else if (in_other_block(shadow.write, shadow.writer))
        report_global(BLOCK_RACE, 2, array, index, shadow.writer, shadow.write, shadow.line);
    /* Nobody can write where everything is fixed; many read there. */
    if (!(shadow.flags & FIXED))
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
    const Thread reader = concurrent_reader(shadow);
    if (is_concurrent(shadow.write, shadow.writer))
        report_global(GLOBAL_RACE, 3, array, index, shadow.writer, 0, shadow.line);
    else if (reader != NO_THREAD)
        report_global(GLOBAL_RACE, 1, array, index, reader, 0);
    else if (in_other_block(shadow.write, shadow.writer))
        report_global(BLOCK_RACE, 3, array, index, shadow.writer, shadow.write, shadow.line);
    else if (in_other_block(shadow.read, shadow.reader))
        report_global(BLOCK_RACE, 1, array, index, shadow.reader, shadow.read);
    else if (in_other_block(shadow.older_read, shadow.older_reader))
        report_global(BLOCK_RACE, 1, array, index, shadow.older_reader, shadow.older_read);
    remember_write(shadow);
    shadow.flags |= INITIALISED;
    running.context->counts.writes++;
    return true;
}

inline Shadow *shared_words(const SharedPlace &place, std::int64_t index, std::uint64_t bytes) {
    return &running.context
                ->shared_shadow[(place.byte_offset + static_cast<std::uint64_t>(index) * bytes) / 4];
}

/* Reports where these words are not for plain accesses. */
inline bool is_plain(const SharedPlace &place, std::int64_t index, const Shadow &shadow, int writes) {
    if (!(shadow.flags & (PENDING | COUNTER)))
        return true;
    if (shadow.flags & PENDING)
        report_shared(COPY_PENDING, writes, place.name, index, shadow.writer, shadow.line);
    else if (Violation *violation = report(LINK_MISUSED, writes)) {
        copy_text(violation->array, place.name);
        violation->index = index;
        copy_text(violation->detail, "this memory has counters of a link");
    }
    return false;
}

/* Whether the element may be read; false only where it has no value, which is a violation unless `moves`. */
__attribute__((noinline)) inline bool
check_shared_read(const SharedPlace &place, std::int64_t index, std::uint64_t bytes, bool moves = false) {
    if (index < 0 || index >= place.count) {
        report_shared(SHARED_BOUNDS, 0, place.name, index, -1);
        return false;
    }
    bool written = true;
    Shadow *const words = shared_words(place, index, bytes);
    for (std::uint64_t word = 0; word < bytes / 4; word++) {
        Shadow &shadow = words[word];
        if (!is_plain(place, index, shadow, 0))
            return false;
        if (shadow.write < running.block_start || (shadow.flags & VALUELESS)) {
            if (written && !moves)
                report_shared(SHARED_UNWRITTEN, 0, place.name, index, -1);
            written = false;
        }
        if (is_concurrent(shadow.write, shadow.writer))
            report_shared(SHARED_RACE, 2, place.name, index, shadow.writer, shadow.line);
        remember_read(shadow);
    }
    return written;
}

/* Reports where a write of the word by the running thread is not ordered after all that was before. */
inline void check_order_of_write(const SharedPlace &place, std::int64_t index, const Shadow &shadow) {
    if (is_concurrent(shadow.write, shadow.writer)) {
        report_shared(SHARED_RACE, 3, place.name, index, shadow.writer, shadow.line);
        return;
    }
    const Thread reader = concurrent_reader(shadow);
    if (reader != NO_THREAD)
        report_shared(SHARED_RACE, 1, place.name, index, reader);
}

/* Whether the element may be written, with these flags afterwards. */
__attribute__((noinline)) inline bool check_shared_write(const SharedPlace &place, std::int64_t index,
                                                         std::uint64_t bytes, unsigned char flags = 0) {
    if (index < 0 || index >= place.count) {
        report_shared(SHARED_BOUNDS, 1, place.name, index, -1);
        return false;
    }
    Shadow *const words = shared_words(place, index, bytes);
    for (std::uint64_t word = 0; word < bytes / 4; word++) {
        Shadow &shadow = words[word];
        if (!is_plain(place, index, shadow, 1))
            return false;
        check_order_of_write(place, index, shadow);
        remember_write(shadow);
        shadow.flags = flags;
    }
    return true;
}

/* ---- Where clocks grow ----------------------------------------------------------------------------------- */

inline void add_messages(Messages &to, const Messages &more) {
    if (to.size() < more.size())
        to.resize(more.size());
    for (std::size_t word = 0; word < more.size(); word++)
        to[word] |= more[word];
}

/* These threads know of each other's messages. */
template <class Threads> inline void join_messages(const Threads &threads) {
    Context &context = *running.context;
    if (context.messages.empty())
        return;
    Messages joined;
    for (int thread : threads)
        add_messages(joined, context.threads[static_cast<std::size_t>(thread)].known);
    for (int thread : threads)
        context.threads[static_cast<std::size_t>(thread)].known = joined;
}

/* The lanes of this warp in the mask meet; the caller lets time go on. */
inline void join_lanes(int warp, std::uint32_t mask) {
    const Context &context = *running.context;
    Stamp joined[WARP] = {};
    const int first = warp * WARP;
    const auto meets = [&](int lane) { return (mask >> lane & 1) && first + lane < context.thread_count; };
    for (int lane = 0; lane < WARP; lane++)
        if (meets(lane))
            for (int other = 0; other < WARP; other++)
                joined[other] = larger(joined[other], lane_clock(first + lane, other));
    for (int lane = 0; lane < WARP; lane++)
        if (meets(lane))
            joined[lane] = running.stamp;
    for (int lane = 0; lane < WARP; lane++)
        if (meets(lane))
            std::memcpy(&lane_clock(first + lane, 0), joined, sizeof joined);
    if (context.messages.empty())
        return;
    std::vector<int> threads;
    for (int lane = 0; lane < WARP; lane++)
        if (meets(lane))
            threads.push_back(first + lane);
    join_messages(threads);
}

/* All lanes of these warps meet. */
inline void join_warps(const std::vector<int> &warps) {
    const Context &context = *running.context;
    std::vector<Stamp> joined(static_cast<std::size_t>(context.warps));
    for (int warp : warps)
        for (int other = 0; other < context.warps; other++)
            joined[static_cast<std::size_t>(other)]
                = larger(joined[static_cast<std::size_t>(other)], warp_clock(warp, other));
    for (int warp : warps)
        joined[static_cast<std::size_t>(warp)] = running.stamp;
    if (!context.messages.empty()) {
        std::vector<int> threads;
        for (int thread = 0; thread < context.thread_count; thread++)
            for (int warp : warps)
                if (thread / WARP == warp)
                    threads.push_back(thread);
        join_messages(threads);
    }
    for (int warp : warps) {
        join_lanes(warp, ALL_LANES);
        std::memcpy(&warp_clock(warp, 0), joined.data(), joined.size() * sizeof(Stamp));
    }
    running.stamp++;
}

} // namespace tw_emulator

#endif
