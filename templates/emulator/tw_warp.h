/* tw_warp.h: warps, what they hand over, and copies in the background, as templates/cuda/warp.cuh has them for a
 * GPU.
 *
 * A warp is 32 threads of a block, in the order of their numbers. It runs until each of its threads waits, for
 * its warp or for others, or has ended; then the calls for which all have come are made, and a warp that can go
 * on is chosen by the launch's pacing. Where lanes wait for each other, or no warp can go on, that is reported
 * and the block is given up. */
#ifndef TW_WARP_H
#define TW_WARP_H

#include "tw_flags.h"

namespace tw_emulator {

inline ThreadState &thread_state(int thread) {
    return running.context->threads[static_cast<std::size_t>(thread)];
}

inline Thread as_thread(int thread) {
    return static_cast<Thread>(thread);
}

/* ---- Where threads do not meet --------------------------------------------------------------------------- */

/* The line at which a thread waits; -1: it has ended. */
inline int waiting_line(int thread) {
    const ThreadState &state = thread_state(thread);
    if (state.ended)
        return -1;
    return state.stop == Stop::AT_WARP ? state.request.line : state.barrier_line;
}

inline Text mask_text(std::uint32_t mask) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return text;
}

/* How a thread waits, in words. */
inline Text waiting_text(int thread) {
    const ThreadState &state = thread_state(thread);
    if (state.ended)
        return "has ended";
    const Request &request = state.request;
    const Text line = " of line " + number_text(waiting_line(thread));
    if (state.stop == Stop::AT_BARRIER)
        return "is at the barrier" + line;
    switch (request.operation) {
    case LINK_POST:
    case LINK_WAIT:
        return Text(request.operation == LINK_POST ? "posts " : "waits for ")
            + number_text(request.count) + " in "
            + running.context->links[static_cast<std::size_t>(request.object)].name + "["
            + number_text(request.index) + "] at the link" + line;
    case NAMED_BARRIER:
        return "is at barrier " + number_text(request.object) + line;
    default:
        return "is at the call" + line + " with mask " + mask_text(request.mask);
    }
}

__attribute__((noinline, cold)) inline void report_meeting(Kind kind, int thread, int other) {
    running.thread = as_thread(thread);
    running.line = larger(waiting_line(thread), 0);
    Violation *violation = report(kind, 0);
    if (!violation)
        return;
    violation->other_thread = other;
    violation->index = waiting_line(thread);
    violation->other_index = other >= 0 ? waiting_line(other) : -1;
    Text text = waiting_text(thread);
    if (other >= 0)
        text = text + ", and thread " + number_text(other) + " " + waiting_text(other);
    copy_text(violation->detail, text);
}

/* ---- Calls of warps -------------------------------------------------------------------------------------- */

/* The lanes of a warp that wait with the same call as `lane`, among those of its mask; false in `all` where one of
 * the mask that has not ended does not. Calls of the whole warp need all of its threads. */
inline std::uint32_t lanes_at_call(int warp, int lane, bool &all, int &missing) {
    const Request &request = thread_state(warp * WARP + lane).request;
    const bool whole = request.operation >= LINK_POST;
    std::uint32_t lanes = 0;
    all = true;
    for (int other = 0; other < WARP && warp * WARP + other < running.context->thread_count; other++) {
        if (!(request.mask >> other & 1))
            continue;
        const ThreadState &state = thread_state(warp * WARP + other);
        if (state.ended && !whole)
            continue;
        if (!state.ended && state.stop == Stop::AT_WARP && state.request.same_call(request)) {
            lanes |= 1u << other;
        } else if (all) {
            all = false;
            missing = warp * WARP + other;
        }
    }
    return lanes;
}

inline void release_lanes(int warp, std::uint32_t lanes) {
    for (int lane = 0; lane < WARP; lane++)
        if (lanes >> lane & 1)
            thread_state(warp * WARP + lane).stop = Stop::RUNNABLE;
}

/* The lane whose value a shuffle gives this one; itself where there is none, and -1 for a shift. */
inline int source_lane(const Request &request, int lane) {
    const int width = request.width, first = lane & ~(width - 1), last = first + width - 1;
    const int none = request.shifts ? -1 : lane;
    switch (request.operation) {
    case SHUFFLE:
        return first | (request.argument & (width - 1));
    case SHUFFLE_UP:
        return lane - request.argument < first ? none : lane - request.argument;
    case SHUFFLE_DOWN:
        return lane + request.argument > last ? none : lane + request.argument;
    default:
        return (lane ^ request.argument) > last ? lane : lane ^ request.argument;
    }
}

/* Makes a call of these lanes, which wait with it. */
inline void make_warp_call(int warp, std::uint32_t lanes) {
    std::uint64_t values[WARP] = {};
    std::uint32_t voting = 0;
    const int first = warp * WARP;
    for (int lane = 0; lane < WARP; lane++)
        if (lanes >> lane & 1) {
            values[lane] = thread_state(first + lane).request.value;
            voting |= std::uint32_t(values[lane] != 0) << lane;
        }
    for (int lane = 0; lane < WARP; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        Request &request = thread_state(first + lane).request;
        request.missing = -1;
        switch (request.operation) {
        case SYNCWARP:
            break;
        case BALLOT:
            request.value = voting;
            break;
        case ANY:
            request.value = voting != 0;
            break;
        case ALL:
            request.value = voting == lanes;
            break;
        default: {
            const int source = source_lane(request, lane);
            if (source >= 0 && (lanes >> source & 1))
                request.value = values[source];
            else
                request.missing = source < 0 ? WARP : source;
        }
        }
    }
    int one = 0;
    while (!(lanes >> one & 1))
        one++;
    if (thread_state(first + one).request.operation == SYNCWARP) {
        join_lanes(warp, lanes);
        running.stamp++;
    }
    release_lanes(warp, lanes);
}

/* ---- Links ------------------------------------------------------------------------------------------------ */

__attribute__((noinline, cold)) inline void
report_link(const LinkState &link, std::int64_t index, const char *what) {
    Violation *violation = report(LINK_MISUSED, 0);
    if (!violation)
        return;
    copy_text(violation->array, link.name);
    violation->index = index;
    copy_text(violation->detail, what);
}

/* The counter of a post or a wait, which is known to exist, and to be cleared for the running thread. */
inline Counter *usable_counter(const Request &request) {
    LinkState &link = running.context->links[static_cast<std::size_t>(request.object)];
    if (request.index < 0 || request.index >= static_cast<std::int64_t>(link.counters.size())) {
        report_shared(SHARED_BOUNDS, request.operation == LINK_POST, link.name.c_str(), request.index, -1);
        return nullptr;
    }
    Counter &counter = link.counters[static_cast<std::size_t>(request.index)];
    if (!counter.cleared || is_concurrent(counter.cleared, counter.clearer)) {
        report_link(link, request.index,
                    counter.cleared ? "nothing orders its clearing before" : "it was never cleared");
        if (!counter.cleared) {
            counter.cleared = running.stamp;
            counter.clearer = running.thread;
        }
    }
    return &counter;
}

inline void make_post(int warp, const Request &request) {
    Context &context = *running.context;
    running.thread = as_thread(warp * WARP);
    running.line = request.line;
    join_lanes(warp, ALL_LANES);
    warp_clock(warp, warp) = running.stamp;
    if (Counter *counter = usable_counter(request)) {
        const LinkState &link = context.links[static_cast<std::size_t>(request.object)];
        const std::int64_t last = counter->posts.empty() ? 0 : counter->posts.back().value;
        if (!counter->posts.empty() && counter->posts.back().warp != warp
            && warp_clock(warp, counter->posts.back().warp)
                < counter->posts.back().clock[static_cast<std::size_t>(counter->posts.back().warp)])
            report_link(link, request.index, "two warps post to one counter, and nothing orders them");
        if (request.count <= last)
            report_link(link, request.index, "the value posted is not larger than the last one");
        else
            counter->posts.push_back(
                {request.count, warp,
                 std::vector<Stamp>(&warp_clock(warp, 0), &warp_clock(warp, 0) + context.warps)});
    }
    running.stamp++;
}

/* The post that ends this wait; null: none has. */
inline const Post *ending_post(const Counter &counter, std::int64_t value) {
    for (const Post &post : counter.posts)
        if (post.value >= value)
            return &post;
    return nullptr;
}

/* Whether the wait can end. One for an index that does not exist does. */
inline bool can_end(const Request &request) {
    const LinkState &link = running.context->links[static_cast<std::size_t>(request.object)];
    if (request.index < 0 || request.index >= static_cast<std::int64_t>(link.counters.size())
        || request.count <= 0)
        return true;
    const std::vector<Post> &posts = link.counters[static_cast<std::size_t>(request.index)].posts;
    return !posts.empty() && posts.back().value >= request.count;
}

inline void end_wait(int warp, const Request &request) {
    running.thread = as_thread(warp * WARP);
    running.line = request.line;
    if (const Counter *counter = usable_counter(request))
        if (const Post *post = request.count > 0 ? ending_post(*counter, request.count) : nullptr)
            for (int other = 0; other < running.context->warps; other++)
                warp_clock(warp, other)
                    = larger(warp_clock(warp, other), post->clock[static_cast<std::size_t>(other)]);
    join_lanes(warp, ALL_LANES);
    running.stamp++;
}

/* ---- Copies ------------------------------------------------------------------------------------------------ */

inline SharedPlace place_of(const Copy &copy) {
    return {copy.name, copy.index + copy.count,
            copy.first_byte - static_cast<std::uint64_t>(copy.index * copy.element_bytes)};
}

/* The copies of the running thread whose groups have these numbers or lower ones land. */
inline void land_copies(std::int64_t last_group) {
    std::vector<Copy> &copies = this_thread().copies;
    std::size_t kept = 0;
    for (const Copy &copy : copies) {
        if (copy.group > last_group) {
            copies[kept++] = copy;
            continue;
        }
        const SharedPlace place = place_of(copy);
        const std::uint64_t bytes = static_cast<std::uint64_t>(copy.element_bytes);
        for (int k = 0; k < copy.count; k++) {
            Shadow *const words = shared_words(place, copy.index + k, bytes);
            for (std::uint64_t word = 0; word < bytes / 4; word++)
                words[word].flags &= static_cast<unsigned char>(~PENDING);
            /* The copy may have read at any time since it began. */
            const std::int64_t source = copy.from_index + k;
            const Shadow &shadow = copy.from->shadow[source];
            const unsigned char *const value = static_cast<const unsigned char *>(copy.from->values)
                + static_cast<std::uint64_t>(source) * bytes;
            const bool written = shadow.flags & INITIALISED;
            if (shadow.write > copy.begun || (shadow.write == copy.begun && shadow.writer != running.thread)
                || std::memcmp(value, copy.seen + static_cast<std::uint64_t>(k) * bytes, bytes) != 0)
                report_global(GLOBAL_RACE, 2, *copy.from, source, shadow.writer, 0, shadow.line);
            else if (written)
                remember_read(copy.from->shadow[source]);
            check_shared_write(place, copy.index + k, bytes, written ? 0 : VALUELESS);
            if (written)
                std::memcpy(running.context->shared_bytes.data() + copy.first_byte
                                + static_cast<std::uint64_t>(k) * bytes,
                            value, bytes);
        }
    }
    copies.resize(kept);
}

/* ---- The block ---------------------------------------------------------------------------------------------- */

inline void wait_for_warp(const Request &request) {
    ThreadState &state = this_thread();
    state.request = request;
    state.stop = Stop::AT_WARP;
    running.context->fibers.pause();
    running.line = request.line;
}

inline void barrier(int line) {
    ThreadState &state = this_thread();
    state.barrier_line = line;
    state.stop = Stop::AT_BARRIER;
    running.context->fibers.pause();
}

/* Whether a thread can run: one that waits for a flag looks again once one was set. */
inline bool is_runnable(ThreadState &state) {
    if (state.stop == Stop::AT_FLAG && state.sets != running.context->sets)
        state.stop = Stop::RUNNABLE;
    return !state.ended && state.stop == Stop::RUNNABLE;
}

/* One warp while its block runs. */
struct WarpRun {
    /* All its lanes wait with a call that needs other warps. */
    bool waits = false;
};

/* Whether the warp's link lets it go on now. */
inline bool link_is_open(int warp) {
    const Request &request = thread_state(warp * WARP).request;
    return request.operation == LINK_POST || (request.operation == LINK_WAIT && can_end(request));
}

/* Runs the warp until each of its threads waits or has ended; makes the calls that are complete. False where
 * lanes wait for each other. */
inline bool step(int warp, WarpRun &run) {
    Context &context = *running.context;
    run.waits = false;
    std::vector<int> &lanes_in_order = context.order;
    put_in_order(lanes_in_order, WARP);
    for (int lane : lanes_in_order) {
        const int thread = warp * WARP + lane;
        if (thread >= context.thread_count || !is_runnable(thread_state(thread)))
            continue;
        running.thread = as_thread(thread);
        running.line = 0;
        context.fibers.resume(thread);
    }
    bool goes_on = false;
    int stuck = -1, missed = -1;
    for (int lane = 0; lane < WARP && warp * WARP + lane < context.thread_count; lane++) {
        const ThreadState &state = thread_state(warp * WARP + lane);
        goes_on = goes_on || (!state.ended && state.stop == Stop::AT_FLAG);
        if (state.ended || state.stop != Stop::AT_WARP)
            continue;
        bool all;
        int missing = -1;
        const std::uint32_t lanes = lanes_at_call(warp, lane, all, missing);
        if (!all) {
            if (stuck < 0) {
                stuck = warp * WARP + lane;
                missed = missing;
            }
        } else if (state.request.operation >= LINK_POST) {
            run.waits = true;
            return true;
        } else {
            make_warp_call(warp, lanes);
            goes_on = true;
        }
    }
    if (goes_on || stuck < 0)
        return true;
    report_meeting(DIVERGENT_WARP, stuck, missed);
    return false;
}

/* The warps that wait at the named barrier at which this one waits; empty unless they are all for whom it waits. */
inline std::vector<int> warps_at_barrier(int warp, const std::vector<WarpRun> &runs) {
    const Request &request = thread_state(warp * WARP).request;
    std::vector<int> found;
    std::int64_t threads = 0;
    for (int other = 0; other < running.context->warps; other++) {
        const Request &theirs = thread_state(other * WARP).request;
        if (!runs[static_cast<std::size_t>(other)].waits || theirs.operation != NAMED_BARRIER
            || theirs.object != request.object || theirs.count != request.count)
            continue;
        found.push_back(other);
        threads += smaller(WARP, running.context->thread_count - other * WARP);
    }
    if (threads != request.count)
        found.clear();
    return found;
}

/* Whether this warp, which waits for others, goes on now. */
inline bool ends_waiting(int warp, std::vector<WarpRun> &runs) {
    const Request request = thread_state(warp * WARP).request;
    std::vector<int> freed = {warp};
    if (request.operation == NAMED_BARRIER) {
        freed = warps_at_barrier(warp, runs);
        if (freed.empty())
            return false;
        join_warps(freed);
    } else if (!link_is_open(warp)) {
        return false;
    } else if (request.operation == LINK_POST) {
        make_post(warp, request);
    } else {
        end_wait(warp, request);
    }
    for (int other : freed) {
        runs[static_cast<std::size_t>(other)].waits = false;
        release_lanes(other,
                      ALL_LANES >> (WARP - smaller(WARP, running.context->thread_count - other * WARP)));
    }
    return true;
}

/* Whether a thread of the warp can run, or what all of them wait for is there. */
inline bool can_go_on(int warp, const std::vector<WarpRun> &runs) {
    if (runs[static_cast<std::size_t>(warp)].waits)
        return thread_state(warp * WARP).request.operation == NAMED_BARRIER
            ? !warps_at_barrier(warp, runs).empty()
            : link_is_open(warp);
    for (int thread = warp * WARP; thread < smaller((warp + 1) * WARP, running.context->thread_count);
         thread++)
        if (is_runnable(thread_state(thread)))
            return true;
    return false;
}

/* The warp that goes on, of those that can; -1: none can. */
inline int choose_warp(const std::vector<unsigned char> &ready, int last) {
    const int warps = running.context->warps;
    int count = 0, chosen = -1;
    for (int k = 0; k < warps; k++) {
        const int warp = running.launch->pacing == IN_TURN ? (last + 1 + k) % warps : k;
        if (!ready[static_cast<std::size_t>(warp)])
            continue;
        count++;
        const bool better = running.launch->pacing == LAST_AHEAD
            || (running.launch->pacing == AT_RANDOM
                && next_random() % static_cast<std::uint64_t>(count) == 0);
        if (chosen < 0 || better)
            chosen = warp;
    }
    return chosen;
}

/* Reports that nobody can go on: a warp waits for what nobody will do. */
inline void report_deadlock(const std::vector<WarpRun> &runs) {
    int thread = -1, other = -1;
    for (int warp = 0; warp < running.context->warps && thread < 0; warp++)
        if (runs[static_cast<std::size_t>(warp)].waits)
            thread = warp * WARP;
    /* Another warp, rather one that waits elsewhere. */
    for (int warp = 0; warp < running.context->warps; warp++) {
        const int first = warp * WARP;
        if (first != thread && (other < 0 || waiting_line(other) == waiting_line(thread)))
            other = first;
    }
    report_meeting(DEADLOCK, thread, other);
}

/* After the block: nothing is under way any more. */
inline void leave_block() {
    Context &context = *running.context;
    for (std::uint64_t word : context.flagged_words)
        context.shared_shadow[word].flags &= static_cast<unsigned char>(~(PENDING | COUNTER));
    context.flagged_words.clear();
    context.links.clear();
    for (ThreadState &state : context.threads) {
        state.copies.clear();
        state.copy_group = 0;
        state.stop = Stop::RUNNABLE;
        state.request = Request();
        state.known.clear();
        state.seen.clear();
        state.fenced = Message();
    }
    running.stamp++;
}

inline void run_block(std::uint64_t number) {
    Context &context = *running.context;
    begin_block(number);
    context.thread_count = static_cast<int>(context.threads.size());
    context.warps = (context.thread_count + WARP - 1) / WARP;
    const std::size_t warps = static_cast<std::size_t>(context.warps);
    context.lane_clocks.assign(context.threads.size() * WARP, 0);
    context.warp_clocks.assign(warps * warps, 0);
    std::vector<WarpRun> runs(warps);
    std::vector<unsigned char> ready(warps, 1);
    std::vector<int> all_warps(warps);
    for (std::size_t warp = 0; warp < warps; warp++)
        all_warps[warp] = static_cast<int>(warp);
    int last = context.warps - 1;
    while (true) {
        const int warp = choose_warp(ready, last);
        if (warp >= 0) {
            last = warp;
            const std::size_t here = static_cast<std::size_t>(warp);
            /* What it waited for may be there only now that it is chosen: a barrier frees others, too. */
            if ((!runs[here].waits || ends_waiting(warp, runs)) && !step(warp, runs[here]))
                break;
            if (is_polite() && !give_way(false))
                break;
            for (std::size_t other = 0; other < warps; other++)
                ready[other] = can_go_on(static_cast<int>(other), runs);
            continue;
        }
        const int spins = waits_for_flag();
        if (spins >= 0) {
            if (!give_way(true)) {
                report_spin(spins);
                break;
            }
            for (std::size_t other = 0; other < warps; other++)
                ready[other] = can_go_on(static_cast<int>(other), runs);
            continue;
        }
        bool waits = false;
        for (const WarpRun &run : runs)
            waits = waits || run.waits;
        if (waits) {
            report_deadlock(runs);
            break;
        }
        if (!meet_at_barrier())
            break;
        join_warps(all_warps);
        running.interval++;
        for (ThreadState &state : context.threads)
            state.stop = Stop::RUNNABLE;
        for (std::size_t other = 0; other < warps; other++)
            ready[other] = can_go_on(static_cast<int>(other), runs);
    }
    leave_block();
}

} // namespace tw_emulator

#include "tw_primitives.h"

#endif
