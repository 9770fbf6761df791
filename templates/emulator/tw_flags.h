/* tw_flags.h: what blocks tell each other by flags in global memory, and how they take turns.
 *
 * A thread sets a flag behind a fence, and another one reads it and makes a fence: only then what was before is ordered
 * before what follows (tw_clocks.h). A flag that is waited for need not be set by a block that has begun: a device holds some
 * blocks at a time, begins others in any order, and a block keeps its place until it ends. Here two blocks have places. Where
 * all of them wait, and no other has a place, they wait for ever: that is reported, and the launch is given up.
 *
 * Blocks take turns where one waits, and, other than with FIRST_AHEAD, where one has set a flag. */
#ifndef TW_FLAGS_H
#define TW_FLAGS_H

namespace tw_emulator {

/* Blocks that have places at a time. */
constexpr int PLACES = 2;

inline void exchange(BlockState &a, BlockState &b) {
    std::swap(static_cast<BlockWarpState &>(a), static_cast<BlockWarpState &>(b));
    std::swap(a.shared_bytes, b.shared_bytes);
    std::swap(a.shared_shadow, b.shared_shadow);
    std::swap(a.threads, b.threads);
    std::swap(a.order, b.order);
    a.fibers.exchange(b.fibers);
}

/* ---- What threads call ------------------------------------------------------------------------------------- */

/* What the running thread has seen is ordered before what follows; what it knows now goes with flags that it sets. */
inline void fence(int line) {
    Context &context = *running.context;
    running.line = line;
    ThreadState &state = this_thread();
    for (std::size_t number = 0; number < context.messages.size(); number++)
        if (has_message(state.seen, number)) {
            if (state.known.size() <= number / 64)
                state.known.resize(number / 64 + 1);
            state.known[number / 64] |= std::uint64_t(1) << number % 64;
            const Messages further = context.messages[number].known;
            add_messages(state.known, further);
        }
    state.seen.clear();
    state.fenced.block = running.block_number;
    state.fenced.known = state.known;
    state.fenced.clock.resize(static_cast<std::size_t>(context.thread_count));
    for (int other = 0; other < context.thread_count; other++)
        state.fenced.clock[static_cast<std::size_t>(other)] = other == running.thread ? running.stamp
            : other / WARP == running.thread / WARP ? lane_clock(running.thread, other % WARP)
                                                    : warp_clock(running.thread / WARP, other / WARP);
    running.stamp++;
}

/* The element of a flag; null where it is none, which is reported. */
inline std::int64_t *flag_at(const Global<std::int64_t> &flags, std::int64_t index, int writes) {
    index += flags.offset;
    if (index < 0 || index >= flags.array->count) {
        report_global(GLOBAL_BOUNDS, writes, *flags.array, index, -1, 0);
        return nullptr;
    }
    if (!(flags.array->shadow[index].flags & INITIALISED)) {
        report_global(GLOBAL_UNWRITTEN, writes, *flags.array, index, -1, 0);
        return nullptr;
    }
    return static_cast<std::int64_t *>(flags.array->values) + index;
}

inline Flag &flag_of(const Global<std::int64_t> &flags, std::int64_t index) {
    Context &context = *running.context;
    for (Flag &flag : context.flags)
        if (flag.array == flags.array->number && flag.index == index + flags.offset)
            return flag;
    context.flags.push_back({flags.array->number, index + flags.offset, 0});
    return context.flags.back();
}

/* Sets a flag. */
inline void set_flag(const Global<std::int64_t> &flags, std::int64_t index, std::int64_t value, int line) {
    Context &context = *running.context;
    running.line = line;
    std::int64_t *element = flag_at(flags, index, 1);
    if (!element)
        return;
    *element = value;
    context.messages.push_back(this_thread().fenced);
    flag_of(flags, index).message = static_cast<std::uint32_t>(context.messages.size());
    context.sets++;
    context.gives_way = true;
}

/* The value of a flag. */
inline std::int64_t read_flag(const Global<std::int64_t> &flags, std::int64_t index, int line) {
    running.line = line;
    const std::int64_t *element = flag_at(flags, index, 0);
    if (!element)
        return 0;
    const std::uint32_t message = flag_of(flags, index).message;
    if (message > 0) {
        Messages &seen = this_thread().seen;
        if (seen.size() <= (message - 1) / 64)
            seen.resize((message - 1) / 64 + 1);
        seen[(message - 1) / 64] |= std::uint64_t(1) << (message - 1) % 64;
    }
    return *element;
}

/* The value of a flag, once it is at least so much. */
inline std::int64_t await_flag(const Global<std::int64_t> &flags, std::int64_t index, std::int64_t least, int line) {
    Context &context = *running.context;
    if (!flag_at(flags, index, 0))
        return least;
    while (true) {
        const std::int64_t value = read_flag(flags, index, line);
        if (value >= least)
            return value;
        ThreadState &state = this_thread();
        state.stop = Stop::AT_FLAG;
        state.flags = flags.array;
        state.flag = index + flags.offset;
        state.least = least;
        state.sets = context.sets;
        state.barrier_line = line;
        context.fibers.pause();
    }
}

/* Adds one to a number, which all threads of the launch may do at once; what it was. */
inline std::int64_t take_number(const Global<std::int64_t> &numbers, std::int64_t index, int line) {
    running.line = line;
    std::int64_t *element = flag_at(numbers, index, 1);
    return element ? (*element)++ : 0;
}

/* ---- Turns --------------------------------------------------------------------------------------------------- */

/* A thread of the running block that waits for a flag; -1: none does. */
inline int waits_for_flag() {
    Context &context = *running.context;
    for (int thread = 0; thread < context.thread_count; thread++)
        if (!context.threads[static_cast<std::size_t>(thread)].ended
            && context.threads[static_cast<std::size_t>(thread)].stop == Stop::AT_FLAG)
            return thread;
    return -1;
}

/* Lets other blocks go on. False where the launch is given up. */
inline bool give_way(bool waits) {
    Context &context = *running.context;
    context.gives_way = false;
    context.resident->waits = waits;
    context.resident->sets = context.sets;
    context.blocks.pause();
    return !context.given_up;
}

/* Whether the running block lets others go on, after it has set a flag. */
inline bool is_polite() {
    if (!running.context->gives_way)
        return false;
    running.context->gives_way = false;
    return running.launch->pacing != FIRST_AHEAD && (running.launch->pacing != AT_RANDOM || next_random() % 2 == 0);
}

inline void report_spin(int thread) {
    const ThreadState &state = running.context->threads[static_cast<std::size_t>(thread)];
    running.thread = static_cast<Thread>(thread);
    running.line = state.barrier_line;
    if (Violation *violation = report(ENDLESS_SPIN, 0)) {
        violation->field = state.flags->number;
        violation->index = state.flag;
        copy_text(violation->detail, "waits for " + number_text(state.least)
                                         + ", which no block that has a place will set");
    }
}

inline void run_block(std::uint64_t number);

inline void block_entry() {
    Context &context = *running.context;
    run_block(context.resident->number);
    context.resident->lives = false;
    context.blocks.pause();
    std::abort();
}

/* Runs the block in this place until it lets others go on, or ends. */
inline void take_turn(int place) {
    Context &context = *running.context;
    Resident &own = *context.residents[static_cast<std::size_t>(place)];
    context.resident = &own;
    running.block = own.kept.block;
    running.block_start = own.kept.block_start;
    running.block_number = own.number;
    running.diverged = own.kept.diverged;
    running.interval = own.kept.interval;
    running.thread = own.kept.thread;
    exchange(context, own.state);
    context.blocks.resume(place);
    exchange(context, own.state);
    own.kept = running;
}

/* Runs all blocks in this order. False where there is no memory. */
inline bool run_blocks(const std::vector<std::uint64_t> &blocks) {
    Context &context = *running.context;
    if (!context.blocks.reserve(PLACES))
        return false;
    while (context.residents.size() < PLACES)
        context.residents.push_back(new Resident);
    context.messages.clear();
    context.flags.clear();
    context.given_up = context.gives_way = false;
    std::size_t next = 0;
    int last = 0;
    while (true) {
        int chosen = -1, living = 0, count = 0;
        for (const Resident *own : context.residents)
            living += own->lives;
        for (int k = 0; k < PLACES; k++) {
            const int place = running.launch->pacing == IN_TURN ? (last + 1 + k) % PLACES : k;
            Resident &own = *context.residents[static_cast<std::size_t>(place)];
            if (!own.lives && next < blocks.size()) {
                exchange(context, own.state);
                const bool ready = prepare_block(context);
                exchange(context, own.state);
                if (!ready)
                    return false;
                own.lives = true;
                own.waits = false;
                own.number = blocks[next++];
                context.blocks.start(place, block_entry);
                chosen = place;
                count = 0;
                living++;
                break;
            }
            if (!own.lives || (own.waits && own.sets == context.sets && !context.given_up))
                continue;
            count++;
            if (chosen < 0 || running.launch->pacing == LAST_AHEAD
                || (running.launch->pacing == AT_RANDOM && next_random() % static_cast<std::uint64_t>(count) == 0))
                chosen = place;
        }
        if (living == 0)
            return true;
        if (chosen < 0) {
            /* All that have places wait: they end now. */
            context.given_up = true;
            next = blocks.size();
            continue;
        }
        running.interleaved = running.interleaved || living > 1;
        running.stamp++;
        if (count > 0) {
            context.block_stamps.push_back(running.stamp);
            context.block_numbers.push_back(context.residents[static_cast<std::size_t>(chosen)]->number);
        }
        last = chosen;
        take_turn(chosen);
    }
}

} // namespace tw_emulator

/* What was before is seen by whoever sees a flag that is set behind it. */
inline void __threadfence(int line = __builtin_LINE()) {
    tw_emulator::fence(line);
}

#endif
