/* tw_primitives.h: what kernels call of templates/cuda/warp.cuh, on top of tw_warp.h. The line of a call is its site. */
#ifndef TW_PRIMITIVES_H
#define TW_PRIMITIVES_H

namespace tw_emulator {

inline int this_lane() {
    return running.thread % WARP;
}

__attribute__((noinline, cold)) inline void report_call(int line, const Text &what) {
    if (Violation *violation = report(WRONG_MASK, 0)) {
        violation->index = line;
        copy_text(violation->detail, what);
    }
}

/* Whether the mask names the calling lane; reports where it does not. */
inline bool names_itself(std::uint32_t mask, int line) {
    running.line = line;
    if (mask >> this_lane() & 1)
        return true;
    report_call(line, "mask " + mask_text(mask) + ", which does not name its lane");
    return false;
}

template <class T> inline T shuffled(Operation operation, std::uint32_t mask, T value, int argument,
                                     int width, int line, bool shifts = false) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 4 or 8 bytes");
    if (!names_itself(mask, line))
        return value;
    if (width < 1 || width > WARP || (width & (width - 1)) != 0) {
        report_call(line, "width " + number_text(width) + ", which is no power of two up to 32");
        return value;
    }
    Request request;
    request.operation = operation;
    request.shifts = shifts;
    request.line = line;
    request.mask = mask;
    request.width = width;
    request.bytes = sizeof(T);
    request.argument = argument;
    std::memcpy(&request.value, &value, sizeof value);
    wait_for_warp(request);
    const Request &answer = this_thread().request;
    if (answer.missing < 0) {
        std::memcpy(static_cast<void *>(&value), &answer.value, sizeof value);
        return value;
    }
#ifdef TW_POISON_TRAVELS
    if constexpr (MAY_BE_POISON<T>) {
        if (answer.missing == WARP)
            return poisoned<T>("shift", nullptr, line,
                               [&] { return "a lane beyond the end of the warp, read " + line_text(line); });
        return poisoned<T>("lane", nullptr, line, [&] {
            return "inactive lane " + number_text(answer.missing) + ", read by lane "
                + number_text(this_lane()) + " " + line_text(line);
        });
    }
#endif
    if (Violation *violation = report(INACTIVE_LANE, 0)) {
        violation->index = answer.missing;
        violation->other_thread = running.thread / WARP * WARP + answer.missing;
    }
    return no_value<T>();
}

inline std::uint32_t voted(Operation operation, std::uint32_t mask, bool predicate, int line) {
    if (!names_itself(mask, line))
        return predicate;
    Request request;
    request.operation = operation;
    request.line = line;
    request.mask = mask;
    request.value = predicate;
    wait_for_warp(request);
    return static_cast<std::uint32_t>(this_thread().request.value);
}

inline void whole_warp(Operation operation, int object, std::int64_t index, std::int64_t count, int line) {
    running.line = line;
    Request request;
    request.operation = operation;
    request.line = line;
    request.mask = ALL_LANES;
    request.object = object;
    request.index = index;
    request.count = count;
    wait_for_warp(request);
}

/* The value of what may be an element. */
template <class X> inline X valued(const X &x) {
    return x;
}
template <class Pointer> inline typename Pointer::Value valued(const Element<Pointer> &element) {
    return element;
}

/* The lesser or the greater of two. */
template <class T> inline T extreme(T a, T b, bool greatest) {
#ifdef TW_POISON_TRAVELS
    if (poison_in(raw(a)) >= 0)
        return a;
    if (poison_in(raw(b)) >= 0)
        return b;
#endif
    return (greatest ? a > b : a < b) ? a : b;
}

/* The counters of a link. */
struct Link {
    int number;
};

inline Link link_array(const char *name, std::int64_t count, std::int64_t byte_offset) {
    Context &context = *running.context;
    for (std::size_t number = 0; number < context.links.size(); number++) {
        const LinkState &link = context.links[number];
        if (link.byte_offset == static_cast<std::uint64_t>(byte_offset)
            && static_cast<std::int64_t>(link.counters.size()) == count)
            return {static_cast<int>(number)};
    }
    /* Checks that it fits. */
    const Shared<int> words = shared_array<int>(name, count, byte_offset);
    LinkState link;
    link.name = name;
    link.byte_offset = words.place.byte_offset;
    link.counters.resize(static_cast<std::size_t>(words.place.count));
    for (std::int64_t k = 0; k < words.place.count; k++) {
        Shadow &shadow = *shared_words(words.place, k, 4);
        if (shadow.flags & (PENDING | COUNTER))
            report_link(link, k, "another link, or a copy under way, has the same memory");
        else if (shadow.write >= running.block_start || shadow.read >= running.block_start)
            report_link(link, k, "its memory was used as an array before");
        shadow.flags |= COUNTER;
        context.flagged_words.push_back(words.place.byte_offset / 4 + static_cast<std::uint64_t>(k));
    }
    context.links.push_back(link);
    return {static_cast<int>(context.links.size() - 1)};
}

/* A vector of elements, as kernels see it. */
template <class T, int N> struct Vector {
    T x[N];
};

__attribute__((noinline, cold)) inline void
report_alignment(int writes, const char *name, int field, std::int64_t index) {
    if (Violation *violation = report(MISALIGNED, writes)) {
        violation->field = field;
        violation->index = index;
        copy_text(violation->array, name);
    }
}

template <class T> inline bool
check_alignment(const Global<T> &pointer, std::int64_t index, int count, int writes) {
    const bool aligned = (pointer.offset + index) % count == 0;
    if (!aligned)
        report_alignment(writes, "", pointer.array->number, pointer.offset + index);
    return aligned;
}

template <class T> inline bool
check_alignment(const Shared<T> &pointer, std::int64_t index, int count, int writes) {
    const std::int64_t size = static_cast<std::int64_t>(sizeof(T));
    const bool aligned
        = (static_cast<std::int64_t>(pointer.place.byte_offset) + (pointer.offset + index) * size)
            % (count * size)
        == 0;
    if (!aligned)
        report_alignment(writes, pointer.place.name, -1, pointer.offset + index);
    return aligned;
}

template <int N, class Pointer> inline Vector<typename Pointer::Value, N>
load_vector(const Pointer &pointer, std::int64_t index, int line) {
    static_assert(N * sizeof(typename Pointer::Value) <= 16, "at most 16 bytes are one access");
    running.line = line;
    check_alignment(pointer, index, N, 0);
    Vector<typename Pointer::Value, N> vector;
    for (int k = 0; k < N; k++)
        vector.x[k] = pointer.read(index + k);
    return vector;
}

template <int N, class Pointer> inline void
store_vector(const Pointer &pointer, std::int64_t index, const Vector<typename Pointer::Value, N> &vector,
             int line) {
    static_assert(N * sizeof(typename Pointer::Value) <= 16, "at most 16 bytes are one access");
    running.line = line;
    check_alignment(pointer, index, N, 1);
    for (int k = 0; k < N; k++)
        pointer.write(index + k, vector.x[k]);
}

template <int N, class S, class G> inline void
copy_async(const Shared<S> &to, std::int64_t to_index, const Global<G> &from, std::int64_t from_index,
           int line) {
    static_assert(std::is_same_v<std::remove_const_t<S>, std::remove_const_t<G>>,
                  "elements of one type are copied");
    static_assert(N * sizeof(S) == 4 || N * sizeof(S) == 8 || N * sizeof(S) == 16,
                  "a copy has 4, 8 or 16 bytes");
    running.line = line;
    check_alignment(to, to_index, N, 1);
    check_alignment(from, from_index, N, 0);
    Context &context = *running.context;
    const std::int64_t first = to.offset + to_index, source = from.offset + from_index;
    if (first < 0 || first + N > to.place.count) {
        report_shared(SHARED_BOUNDS, 1, to.place.name, first, -1);
        return;
    }
    if (source < 0 || source + N > from.array->count) {
        report_global(GLOBAL_BOUNDS, 0, *from.array, source, -1, 0);
        return;
    }
    for (int k = 0; k < N; k++) {
        check_global_read(*from.array, source + k);
        Shadow *const words = shared_words(to.place, first + k, sizeof(S));
        for (std::uint64_t word = 0; word < sizeof(S) / 4; word++) {
            if (!is_plain(to.place, first + k, words[word], 1))
                return;
            check_order_of_write(to.place, first + k, words[word]);
        }
    }
    const std::uint64_t first_byte = to.place.byte_offset + static_cast<std::uint64_t>(first) * sizeof(S);
    for (std::uint64_t word = first_byte / 4; word < first_byte / 4 + N * sizeof(S) / 4; word++) {
        /* It may land from now on. */
        remember_write(context.shared_shadow[word]);
        context.shared_shadow[word].flags |= PENDING;
        context.flagged_words.push_back(word);
    }
    Copy copy = {from.array,
                 source,
                 to.place.name,
                 first_byte,
                 first,
                 static_cast<int>(sizeof(S)),
                 N,
                 this_thread().copy_group,
                 running.stamp,
                 {}};
    std::memcpy(copy.seen, static_cast<const S *>(from.array->values) + source, N * sizeof(S));
    this_thread().copies.push_back(copy);
}

} // namespace tw_emulator

inline void __syncwarp(unsigned mask = tw_emulator::ALL_LANES, int line = __builtin_LINE()) {
    tw_emulator::voted(tw_emulator::SYNCWARP, mask, false, line);
}
template <class T> inline auto
__shfl_sync(unsigned mask, const T &value, int source, int width = 32, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE, mask, tw_emulator::valued(value), source, width, line);
}
template <class T> inline auto
__shfl_up_sync(unsigned mask, const T &value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE_UP, mask, tw_emulator::valued(value),
                                 static_cast<int>(delta), width, line);
}
template <class T> inline auto
__shfl_down_sync(unsigned mask, const T &value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE_DOWN, mask, tw_emulator::valued(value),
                                 static_cast<int>(delta), width, line);
}
template <class T> inline auto
__shfl_xor_sync(unsigned mask, const T &value, int lane_mask, int width = 32, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE_XOR, mask, tw_emulator::valued(value), lane_mask, width,
                                 line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return tw_emulator::voted(tw_emulator::BALLOT, mask, predicate != 0, line);
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return static_cast<int>(tw_emulator::voted(tw_emulator::ANY, mask, predicate != 0, line));
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
    return static_cast<int>(tw_emulator::voted(tw_emulator::ALL, mask, predicate != 0, line));
}
/* Which lanes happen to run together says nothing that a kernel may rely on. */
unsigned __activemask() = delete;

#define TW_LINK(name, count, byte_offset)                                                                    \
    const tw_emulator::Link name = tw_emulator::link_array(#name, (count), (byte_offset))

inline int tw_lane() {
    return tw_emulator::this_lane();
}
inline int tw_warp() {
    return tw_emulator::running.thread / tw_emulator::WARP;
}
inline int tw_warp_of_team() {
    return tw_warp();
}
template <class T> inline T tw_kept(const T &value) {
    return value;
}
inline void tw_link_clear(const tw_emulator::Link &link, int line = __builtin_LINE()) {
    using namespace tw_emulator;
    running.line = line;
    LinkState &state = running.context->links[static_cast<std::size_t>(link.number)];
    const std::size_t threads = static_cast<std::size_t>(running.context->thread_count);
    for (std::size_t k = running.thread; k < state.counters.size(); k += threads) {
        Counter &counter = state.counters[k];
        if (counter.cleared)
            report_link(state, static_cast<std::int64_t>(k), "it is cleared or used already");
        counter.cleared = running.stamp;
        counter.clearer = running.thread;
    }
}
inline void
tw_link_post(const tw_emulator::Link &link, long long index, int value, int line = __builtin_LINE()) {
    tw_emulator::whole_warp(tw_emulator::LINK_POST, link.number, index, value, line);
}
inline void
tw_link_wait(const tw_emulator::Link &link, long long index, int value, int line = __builtin_LINE()) {
    tw_emulator::whole_warp(tw_emulator::LINK_WAIT, link.number, index, value, line);
}
inline void tw_barrier(int number, int threads, int line = __builtin_LINE()) {
    using namespace tw_emulator;
    running.line = line;
    if (number < 1 || number > 15 || threads < WARP || threads % WARP != 0) {
        if (Violation *violation = report(LINK_MISUSED, 0)) {
            copy_text(violation->array, "barrier");
            violation->index = number;
            copy_text(violation->detail, "barriers of whole warps have the numbers 1 to 15");
        }
        return;
    }
    tw_emulator::whole_warp(tw_emulator::NAMED_BARRIER, number, 0, threads, line);
}

template <class T, int N> using tw_vector = tw_emulator::Vector<T, N>;
template <class Pointer> inline auto tw_load2(const Pointer &p, long long i, int line = __builtin_LINE()) {
    return tw_emulator::load_vector<2>(p, i, line);
}
template <class Pointer> inline auto tw_load4(const Pointer &p, long long i, int line = __builtin_LINE()) {
    return tw_emulator::load_vector<4>(p, i, line);
}
template <class Pointer> inline void
tw_store2(const Pointer &p, long long i, const tw_vector<typename Pointer::Value, 2> &v,
          int line = __builtin_LINE()) {
    tw_emulator::store_vector<2>(p, i, v, line);
}
template <class Pointer> inline void
tw_store4(const Pointer &p, long long i, const tw_vector<typename Pointer::Value, 4> &v,
          int line = __builtin_LINE()) {
    tw_emulator::store_vector<4>(p, i, v, line);
}

/* The bits of the first lane, as on a device: a word of what lanes know differently shows. */
inline int tw_word(int bits, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE, tw_emulator::ALL_LANES, tw_emulator::valued(bits), 0, 32,
                                 line);
}

template <int N, class T> inline bool tw_is_aligned(const tw_emulator::Global<T> &p) {
    return p.offset % N == 0;
}

template <int N = 1, class S, class G> inline void
tw_copy_async(const tw_emulator::Shared<S> &to, long long i, const tw_emulator::Global<G> &from, long long j,
              int line = __builtin_LINE()) {
    tw_emulator::copy_async<N>(to, i, from, j, line);
}
template <int N, class T, class S, class G> inline void
tw_copy_begin(tw_vector<T, N> &, const tw_emulator::Shared<S> &to, long long i,
              const tw_emulator::Global<G> &from, long long j, int line = __builtin_LINE()) {
    tw_emulator::copy_async<N>(to, i, from, j, line);
}
template <int N, class T, class S> inline void
tw_copy_end(const tw_vector<T, N> &, const tw_emulator::Shared<S> &, long long) {
}
template <int N, class T, class G> inline void
tw_copy_ask(tw_vector<T, N> &, const tw_emulator::Global<G> &, long long) {
}
template <int N, class S, class G> inline void
tw_copy_background(const tw_emulator::Shared<S> &to, long long i, const tw_emulator::Global<G> &from,
                   long long j, int line = __builtin_LINE()) {
    tw_emulator::copy_async<N>(to, i, from, j, line);
}
inline void tw_copy_commit() {
    tw_emulator::this_thread().copy_group++;
}
template <int N> inline void tw_copy_wait(int line = __builtin_LINE()) {
    tw_emulator::running.line = line;
    tw_emulator::land_copies(tw_emulator::this_thread().copy_group - 1 - N);
}

/* The least and the greatest of two are no decision: with poison among them they are poison. */
template <class A, class B> inline auto tw_least(const A &a, const B &b) {
    return tw_emulator::extreme(tw_emulator::valued(a), tw_emulator::valued(b), false);
}
template <class A, class B> inline auto tw_greatest(const A &a, const B &b) {
    return tw_emulator::extreme(tw_emulator::valued(a), tw_emulator::valued(b), true);
}

#ifdef TW_POISON_TRAVELS
/* A value that nobody gave. */
template <class T> inline T tw_junk(int line = __builtin_LINE()) {
    return tw_emulator::poisoned<T>("junk", nullptr, line,
                                    [&] { return "junk " + tw_emulator::line_text(line); });
}
template <class T> inline auto tw_shift_up(const T &value, unsigned delta, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE_UP, tw_emulator::ALL_LANES, tw_emulator::valued(value),
                                 static_cast<int>(delta), 32, line, true);
}
template <class T> inline auto tw_shift_down(const T &value, unsigned delta, int line = __builtin_LINE()) {
    return tw_emulator::shuffled(tw_emulator::SHUFFLE_DOWN, tw_emulator::ALL_LANES,
                                 tw_emulator::valued(value), static_cast<int>(delta), 32, line, true);
}
#endif

#endif
