#define TW_BLOCK 256
#define TW_TILE 4096
#define TW_OWN (TW_TILE / TW_BLOCK)
#define TW_DIGITS 16

#if !defined(TW_HOST_ONLY)
/* ---- What kernels are made of ------------------------------------------------------------------------------------ */

/* Which of the threads of its block found something before this one, and how many did. All threads of the block call it;
 * `words` has one for each warp. */
template <class Words> TW_DEVICE int tw_block_rank(const Words &words, bool found, int *total)
{
    const unsigned votes = __ballot_sync(0xffffffffu, found);
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    if (lane == 0) words[warp] = __popc(votes);
    __syncthreads();
    int before = 0, sum = 0;
    for (int i = 0; i < (int)blockDim.x / 32; ++i) {
        const int own = words[i];
        before += i < warp ? own : 0;
        sum += own;
    }
    __syncthreads();
    *total = sum;
    return before + __popc(votes & ((1u << lane) - 1));
}

/* The number of this and lower places that claim an element: the greatest one stays. */
#if defined(TW_EMULATOR)
inline void tw_claim(const tw_emulator::Global<int64_t> &claims, int64_t place, int64_t own)
{
    const int64_t at = claims.offset + place;
    int64_t &value = static_cast<int64_t *>(claims.array->values)[at];
    value = value < own ? own : value;
}
#else
TW_DEVICE void tw_claim(int64_t *claims, int64_t place, int64_t own)
{
    atomicMax((long long *)&claims[place], (long long)own);
}
#endif

/* ---- Blocks that take tiles in order and look back ----------------------------------------------------------------- */

/* Marks tell what is known of each tile; behind those of all tiles is the number of the next one. They are read and set by many
 * threads at once, each as a whole. */
#if defined(TW_EMULATOR)
inline int64_t tw_take_tile(const tw_emulator::Global<int64_t> &marks, int64_t place, int line = __builtin_LINE())
{
    return tw_emulator::take_number(marks, place, line);
}
inline void tw_set_mark(const tw_emulator::Global<int64_t> &marks, int64_t tile, int64_t value, int line = __builtin_LINE())
{
    tw_emulator::set_flag(marks, tile, value, line);
}
inline int64_t tw_await_mark(const tw_emulator::Global<int64_t> &marks, int64_t tile, int line = __builtin_LINE())
{
    return tw_emulator::await_flag(marks, tile, 1, line);
}
#else
TW_DEVICE int64_t tw_take_tile(int64_t *marks, int64_t place)
{
    return (int64_t)atomicAdd((unsigned long long *)&marks[place], 1ull);
}
TW_DEVICE void tw_set_mark(int64_t *marks, int64_t tile, int64_t value)
{
    *(volatile int64_t *)&marks[tile] = value;
}
/* Waits until anything is known. The tile was taken before that of whoever waits, by a block that has begun. */
TW_DEVICE int64_t tw_await_mark(const int64_t *marks, int64_t tile)
{
    int64_t value = 0;
    while (value == 0) value = *(const volatile int64_t *)&marks[tile];
    return value;
}
#endif

/* The next tile that nobody has; as many as there are, or more, where all are taken. All threads of the block call it, with a barrier
 * between two calls. */
template <class Words, class Marks> TW_DEVICE int64_t tw_next_tile(const Words &words, const Marks &marks, int64_t tiles)
{
    if (threadIdx.x == 0) words[0] = tw_take_tile(marks, tiles);
    __syncthreads();
    return words[0];
}

/* Lets other blocks see what this thread wrote, and threads that it met: the first one of the block marks the tile. */
template <class Marks> TW_DEVICE void tw_mark(const Marks &marks, int64_t tile, int64_t value)
{
    if (threadIdx.x != 0) return;
    __threadfence();
    tw_set_mark(marks, tile, value);
}

/* The nearest tile before this one that is marked 2; -1 where there is none. Those between are marked 1 at least, and what was
 * written before all these marks is seen. All threads of the block call it: those of the first warp look at a tile each. */
template <class Words, class Marks> TW_DEVICE int64_t tw_look_back(const Words &words, const Marks &marks, int64_t tile)
{
    if (threadIdx.x < 32) {
        const int lane = (int)threadIdx.x;
        int64_t last = tile - 1;
        unsigned votes = 0;
        while (true) {
            const int64_t own = last - lane;
            const int64_t mark = own < 0 ? 2 : tw_await_mark(marks, own);
            votes = __ballot_sync(0xffffffffu, mark == 2);
            if (votes != 0) break;
            last -= 32;
        }
        __threadfence();
        const int64_t found = last - (__ffs((int)votes) - 1);
        if (lane == 0) words[1] = found < 0 ? -1 : found;
    }
    __syncthreads();
    return words[1];
}

/* The first row of a share: rows and their elements are dealt out evenly (Merrill and Garland, merge path). */
template <class Offsets> TW_DEVICE int64_t tw_share(const Offsets &offsets, int64_t rows, int64_t share, int64_t shares)
{
    const int64_t total = rows + (int64_t)offsets[rows];
    const int64_t goal = total / shares * share + tw_min(total % shares, share);
    int64_t low = 0, high = rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (middle + (int64_t)offsets[middle] < goal) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The first row that ends at an element or behind it; the number of rows where there is none. */
template <class Offsets> TW_DEVICE int64_t tw_row_at(const Offsets &offsets, int64_t rows, int64_t element)
{
    int64_t low = 0, high = rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if ((int64_t)offsets[middle + 1] < element) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Offsets begin with 0, never decrease, and end with the length. Inside of a kernel a thread looks at all of them. */
template <class Offsets> TW_DEVICE int64_t
tw_offsets(const tw_device *tw, const Offsets &offsets, int64_t count, int64_t length, int64_t check)
{
    if (count < 1) {
        tw_fault(tw->report, check, 0, 0);
        return 0;
    }
    for (int64_t i = 0; TW_CHECKS && i < count; ++i) {
        const int64_t own = offsets[i], before = i > 0 ? (int64_t)offsets[i - 1] : 0;
        if (own < before || (i == 0 && own != 0) || (i + 1 == count && own != length)) {
            tw_fault(tw->report, check, i, own);
            return 0;
        }
    }
    return count - 1;
}

#define TW_CHECK_OFFSETS(T)                                                                                             \
    extern "C" __global__ void __launch_bounds__(TW_BLOCK) tw_check_offsets_##T(                                        \
        TW_GLOBAL(const T) offsets, const int64_t count, const int64_t length, const int64_t check, const tw_device tw) \
    {                                                                                                                   \
        for (int64_t i = (int64_t)blockIdx.x * TW_BLOCK + threadIdx.x; i < count; i += (int64_t)gridDim.x * TW_BLOCK) { \
            const int64_t own = offsets[i], before = i > 0 ? (int64_t)offsets[i - 1] : 0;                               \
            if (own < before || (i == 0 && own != 0) || (i + 1 == count && own != length))                              \
                tw_tell(tw.report, check, i, own);                                                                      \
        }                                                                                                               \
    }
TW_CHECK_OFFSETS(int32_t)
TW_CHECK_OFFSETS(int64_t)

/* Kernels behind this one do nothing if something was found wrong. */
extern "C" __global__ void tw_settle(int64_t *stop, const tw_device tw)
{
    if (tw.report->check != 0) *stop = 1;
}

extern "C" __global__ void __launch_bounds__(TW_BLOCK)
    tw_fill(TW_GLOBAL(int64_t) values, const int64_t count, const int64_t value, const tw_device tw)
{
    if (*tw.stop) return;
    for (int64_t i = (int64_t)blockIdx.x * TW_BLOCK + threadIdx.x; i < count; i += (int64_t)gridDim.x * TW_BLOCK)
        values[i] = value;
}

/* Exclusive sums of whole numbers, in place, by one block; behind the last one their total. */
extern "C" __global__ void __launch_bounds__(TW_BLOCK)
    tw_sums(TW_GLOBAL(int64_t) values, const int64_t count, const tw_device tw)
{
    TW_SHARED(int64_t, sums, 2 * TW_BLOCK, 0);
    if (*tw.stop) return;
    const int own = (int)threadIdx.x;
    int64_t before = 0;
    for (int64_t first = 0; first < count; first += TW_BLOCK) {
        const int64_t place = first + own;
        int from = 0;
        const int64_t value = place < count ? (int64_t)values[place] : 0;
        sums[own] = value;
        __syncthreads();
        for (int distance = 1; distance < TW_BLOCK; distance *= 2) {
            const int64_t more = own >= distance ? (int64_t)sums[from + own - distance] : 0;
            sums[TW_BLOCK - from + own] = (int64_t)sums[from + own] + more;
            from = TW_BLOCK - from;
            __syncthreads();
        }
        if (place < count) values[place] = before + (int64_t)sums[from + own] - value;
        before += (int64_t)sums[from + TW_BLOCK - 1];
        __syncthreads();
    }
    if (own == 0) values[count] = before;
}

/* The least and the greatest key of each block's share. */
extern "C" __global__ void __launch_bounds__(TW_BLOCK)
    tw_extremes(TW_GLOBAL(const int64_t) keys, const int64_t count, TW_GLOBAL(int64_t) parts, const tw_device tw)
{
    TW_SHARED(int64_t, ends, 2 * TW_BLOCK, 0);
    if (*tw.stop) return;
    const int own = (int)threadIdx.x;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int64_t i = (int64_t)blockIdx.x * TW_BLOCK + own; i < count; i += (int64_t)gridDim.x * TW_BLOCK) {
        const int64_t key = keys[i];
        least = key < least ? key : least;
        most = key > most ? key : most;
    }
    ends[own] = least;
    ends[TW_BLOCK + own] = most;
    __syncthreads();
    if (own != 0) return;
    for (int i = 1; i < TW_BLOCK; ++i) {
        const int64_t low = ends[i], high = ends[TW_BLOCK + i];
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    parts[2 * (int64_t)blockIdx.x] = least;
    parts[2 * (int64_t)blockIdx.x + 1] = most;
}

/* Sorting by four bits at a time: each block has a tile, each thread neighbouring places of it, so that equal keys stay
 * in their order. `counts` has, for each value of the four bits, a number for each tile. */
template <class Columns, class Keys, class Order> TW_DEVICE void
tw_count_digits(const Columns &columns, const Keys &keys, const Order &order, int64_t count, int64_t least, int shift)
{
    const int own = (int)threadIdx.x;
    for (int digit = 0; digit < TW_DIGITS; ++digit) columns[digit * TW_BLOCK + own] = 0;
    for (int i = 0; i < TW_OWN; ++i) {
        const int64_t place = (int64_t)blockIdx.x * TW_TILE + own * TW_OWN + i;
        if (place < count) {
            const uint64_t key = (uint64_t)(int64_t)keys[order[place]] - (uint64_t)least;
            const int at = (int)(key >> shift & (TW_DIGITS - 1)) * TW_BLOCK + own;
            columns[at] = (int)columns[at] + 1;
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(TW_BLOCK)
    tw_digits(TW_GLOBAL(const int64_t) keys, TW_GLOBAL(const int64_t) order, const int64_t count, const int64_t least,
             const int64_t shift, TW_GLOBAL(int64_t) counts, const tw_device tw)
{
    TW_SHARED(int, columns, TW_DIGITS * TW_BLOCK, 0);
    if (*tw.stop) return;
    tw_count_digits(columns, keys, order, count, least, (int)shift);
    const int digit = (int)threadIdx.x;
    if (digit >= TW_DIGITS) return;
    int64_t sum = 0;
    for (int i = 0; i < TW_BLOCK; ++i) sum += (int)columns[digit * TW_BLOCK + i];
    counts[(int64_t)digit * gridDim.x + blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(TW_BLOCK)
    tw_move(TW_GLOBAL(const int64_t) keys, TW_GLOBAL(const int64_t) order, const int64_t count, const int64_t least,
            const int64_t shift, TW_GLOBAL(const int64_t) counts, TW_GLOBAL(int64_t) sorted, const tw_device tw)
{
    TW_SHARED(int, columns, TW_DIGITS * TW_BLOCK, 0);
    if (*tw.stop) return;
    tw_count_digits(columns, keys, order, count, least, (int)shift);
    const int own = (int)threadIdx.x;
    if (own < TW_DIGITS) {
        int before = 0;
        for (int i = 0; i < TW_BLOCK; ++i) {
            const int here = columns[own * TW_BLOCK + i];
            columns[own * TW_BLOCK + i] = before;
            before += here;
        }
    }
    __syncthreads();
    for (int i = 0; i < TW_OWN; ++i) {
        const int64_t place = (int64_t)blockIdx.x * TW_TILE + own * TW_OWN + i;
        if (place >= count) return;
        const int64_t from = order[place];
        const uint64_t key = (uint64_t)(int64_t)keys[from] - (uint64_t)least;
        const int digit = (int)(key >> shift & (TW_DIGITS - 1));
        const int64_t base = counts[(int64_t)digit * gridDim.x + blockIdx.x];
        const int at = digit * TW_BLOCK + own, rank = columns[at];
        columns[at] = rank + 1;
        sorted[base + rank] = from;
    }
}

extern "C" __global__ void __launch_bounds__(TW_BLOCK)
    tw_places(TW_GLOBAL(int64_t) order, const int64_t count, const tw_device tw)
{
    if (*tw.stop) return;
    for (int64_t i = (int64_t)blockIdx.x * TW_BLOCK + threadIdx.x; i < count; i += (int64_t)gridDim.x * TW_BLOCK)
        order[i] = i;
}
#endif

#if !defined(TW_DEVICE_ONLY)
/* ---- What the host does ------------------------------------------------------------------------------------------ */

/* The numbers of the kernels above; those of the program follow. */
enum {
    TW_KERNEL_OFFSETS_32,
    TW_KERNEL_OFFSETS_64,
    TW_KERNEL_SETTLE,
    TW_KERNEL_FILL,
    TW_KERNEL_SUMS,
    TW_KERNEL_EXTREMES,
    TW_KERNEL_COUNT,
    TW_KERNEL_MOVE,
    TW_KERNEL_PLACES,
    TW_KERNELS
};

/* A device: memory (`both`: that the host reaches, too), copies that wait, and kernels, each behind the one before. */
typedef struct {
    void *self;
    /* Most blocks of a launch. */
    int64_t most_blocks;
    void *(*take)(void *self, int64_t bytes, int both);
    void (*give_back)(void *self, void *memory, int both);
    int (*copy)(void *self, void *to, const void *from, int64_t bytes);
    int (*launch)(void *self, int kernel, int64_t blocks, int threads, int shared_bytes, void **arguments);
    int (*wait)(void *self);
} tw_machine;

typedef struct {
    tw_slot *slots;
    tw_report *report;
    const tw_machine *machine;
    tw_device device;
    int64_t *memo;
    /* Kernels were started since the host last waited. */
    int under_way;
#if defined(TW_EMULATOR)
    tw_emulator::Context *context;
#endif
} tw_context;

/* Waits for all kernels; whether something is wrong. */
TW_COLD int tw_wait(tw_context *tw)
{
    if (tw->under_way && tw->report->check == 0) {
        const tw_machine *machine = tw->machine;
        if (machine->wait(machine->self) || machine->copy(machine->self, tw->report, tw->device.report, sizeof(tw_report)))
            tw_fault(tw->report, -2, 0, 0);
        tw->under_way = 0;
    }
    return tw->report->check != 0;
}

/* So many blocks that each has `own` of the items, or as many as there can be. */
TW_COLD int64_t tw_blocks(const tw_context *tw, int64_t items, int64_t own)
{
    const int64_t blocks = items / own + (items % own > 0);
    return items <= 0 ? 0 : blocks < tw->machine->most_blocks ? blocks : tw->machine->most_blocks;
}

TW_COLD void tw_launch(tw_context *tw, int kernel, int64_t blocks, int threads, int shared_bytes, void **arguments)
{
    if (blocks <= 0 || tw->report->check != 0) return;
    tw->under_way = 1;
    if (tw->machine->launch(tw->machine->self, kernel, blocks, threads, shared_bytes, arguments))
        tw_fault(tw->report, -2, kernel, blocks);
}

#if defined(TW_EMULATOR)
namespace tw_emulator {
/* The array of a slot begins anew: its elements have values as `flags` say. */
static void renew(Context &context, int slot, void *values, std::int64_t count, unsigned char flags) {
    Array &array = context.fields[static_cast<std::size_t>(slot)];
    std::free(array.shadow);
    array.values = values;
    array.count = count;
    array.number = slot;
    array.shadow = static_cast<Shadow *>(std::malloc(sizeof(Shadow) * (static_cast<std::size_t>(count) + 1)));
    if (!array.shadow)
        array.count = 0;
    for (std::int64_t i = 0; i < array.count; i++) {
        array.shadow[i] = Shadow();
        array.shadow[i].flags = flags;
    }
}
static void exchange(Context &context, int a, int b) {
    Array &first = context.fields[static_cast<std::size_t>(a)], &second = context.fields[static_cast<std::size_t>(b)];
    const Array own = first;
    first = second;
    second = own;
    first.number = a;
    second.number = b;
}
/* Results of which nobody wrote an element. */
static int64_t unwritten_results;
static void look_for_unwritten(const Context &context, int slot) {
    const Array &array = context.fields[static_cast<std::size_t>(slot)];
    for (std::int64_t i = 0; i < array.count; i++)
        unwritten_results += !(array.shadow[i].flags & INITIALISED);
}
} // namespace tw_emulator

template <class T> static tw_emulator::Global<T> tw_array(tw_context *tw, int slot)
{
    return tw_emulator::Global<T>(&tw->context->fields[static_cast<std::size_t>(slot)], 0);
}
template <class T> static T tw_element(tw_context *, const tw_emulator::Global<const T> &array, int64_t place)
{
    return static_cast<const T *>(array.array->values)[array.offset + place];
}
#else
template <class T> static T *tw_array(tw_context *tw, int slot)
{
    return (T *)tw->slots[slot].data;
}
template <class T> static T tw_element(tw_context *tw, const T *array, int64_t place)
{
    T value = T();
    if (tw->machine->copy(tw->machine->self, &value, array + place, sizeof value)) tw_fault(tw->report, -2, 0, 0);
    return value;
}
#endif

/* An element of an array on the device, for the host. */
template <class T, class Array> static T tw_fetch(tw_context *tw, const Array &array, int64_t place)
{
    if (tw_wait(tw)) return T();
    return tw_element<T>(tw, array, place);
}

/* A number that the host reaches; nothing where something is wrong. */
template <class T> static const T *tw_number(tw_context *tw, int slot, int computed)
{
    static const T none[16] = {};
    if (computed && tw_wait(tw)) return none;
    return (const T *)tw->slots[slot].data;
}

/* Room for elements of this size; what was there is lost. Blocks that are large enough are used again. */
TW_COLD void *tw_room_of(tw_context *tw, int slot, int64_t length, int width, int size, int both)
{
    tw_slot *own = &tw->slots[slot];
    const int64_t bytes = (int64_t)width * size;
    int64_t need = length > 0 ? length : 0;
    if (need > (INT64_MAX - 4096) / bytes) {
        tw_fault(tw->report, -1, length, bytes);
        need = 0;
    }
    need *= bytes;
    if (own->data == NULL || own->capacity < need) {
        const tw_machine *machine = tw->machine;
        if (own->data != NULL) {
            machine->wait(machine->self);
            machine->give_back(machine->self, own->data, both);
        }
        own->capacity = (need / 256 + 1) * 256;
        own->data = machine->take(machine->self, own->capacity, both);
        if (own->data == NULL) {
            tw_fault(tw->report, -1, length, bytes);
            own->length = own->capacity = 0;
            return NULL;
        }
    }
    own->length = length > 0 ? length : 0;
#if defined(TW_EMULATOR)
    tw_emulator::renew(*tw->context, slot, own->data, need / size, 0);
#endif
    return own->data;
}

TW_COLD void tw_swap(tw_context *tw, int a, int b)
{
    const tw_slot own = tw->slots[a];
    tw->slots[a] = tw->slots[b];
    tw->slots[b] = own;
#if defined(TW_EMULATOR)
    tw_emulator::exchange(*tw->context, a, b);
#endif
}

TW_COLD void tw_settled(tw_context *tw)
{
    int64_t *stop = (int64_t *)tw->device.stop;
    void *arguments[] = {&stop, &tw->device};
    tw_launch(tw, TW_KERNEL_SETTLE, 1, 1, 0, arguments);
}

/* Checks offsets on the device, those that are given once; returns the number of rows. */
template <class Array> static int64_t
tw_offsets(tw_context *tw, Array offsets, int64_t count, int64_t length, int64_t check, int wide, int given)
{
    if (count < 1) {
        tw_fault(tw->report, check, 0, 0);
        return 0;
    }
    if (TW_CHECKS && !(given && tw->memo[check] == length + 1)) {
        void *arguments[] = {&offsets, &count, &length, &check, &tw->device};
        tw_launch(tw, wide ? TW_KERNEL_OFFSETS_64 : TW_KERNEL_OFFSETS_32, tw_blocks(tw, count, TW_BLOCK), TW_BLOCK, 0,
                  arguments);
        tw_settled(tw);
        tw->memo[check] = length + 1;
    }
    return count - 1;
}

/* Exclusive sums of whole numbers in place, behind them their total, which is returned. */
template <class Array> static int64_t tw_totals(tw_context *tw, Array values, int64_t count)
{
    void *arguments[] = {&values, &count, &tw->device};
    tw_launch(tw, TW_KERNEL_SUMS, 1, TW_BLOCK, 2 * TW_BLOCK * (int)sizeof(int64_t), arguments);
    return tw_fetch<int64_t>(tw, values, count);
}

template <class Array> static void tw_filled(tw_context *tw, Array values, int64_t count, int64_t value)
{
    void *arguments[] = {&values, &count, &value, &tw->device};
    tw_launch(tw, TW_KERNEL_FILL, tw_blocks(tw, count, TW_BLOCK), TW_BLOCK, 0, arguments);
}

/* Blocks that look for the least and the greatest key. */
#define TW_SHARES 64

/* The places of keys in ascending order, equal ones as they stand. `counts` has room for 16 numbers for each tile and one
 * more, and for two numbers for each of TW_SHARES blocks. */
template <class Array> static void
tw_order(tw_context *tw, Array keys, int64_t count, Array order, Array other, Array counts)
{
    int64_t tiles = count / TW_TILE + (count % TW_TILE > 0);
    void *places[] = {&order, &count, &tw->device};
    tw_launch(tw, TW_KERNEL_PLACES, tw_blocks(tw, count, TW_BLOCK), TW_BLOCK, 0, places);
    if (count < 2) return;
    int64_t shares = tw_blocks(tw, count, TW_BLOCK);
    shares = shares < TW_SHARES ? shares : TW_SHARES;
    void *extremes[] = {&keys, &count, &counts, &tw->device};
    tw_launch(tw, TW_KERNEL_EXTREMES, shares, TW_BLOCK, 2 * TW_BLOCK * (int)sizeof(int64_t), extremes);
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int64_t i = 0; i < shares; ++i) {
        const int64_t low = tw_fetch<int64_t>(tw, counts, 2 * i), high = tw_fetch<int64_t>(tw, counts, 2 * i + 1);
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    if (tw_wait(tw)) return;
    const uint64_t range = (uint64_t)most - (uint64_t)least;
    Array from = order, to = other;
    /* An even number of times, so that the order is where it is wanted. */
    for (int64_t shift = 0, odd = 0; shift < 64 && (odd || range >> shift != 0); shift += 4, odd = !odd) {
        void *counted[] = {&keys, &from, &count, &least, &shift, &counts, &tw->device};
        int64_t numbers = TW_DIGITS * tiles;
        void *summed[] = {&counts, &numbers, &tw->device};
        void *sorted[] = {&keys, &from, &count, &least, &shift, &counts, &to, &tw->device};
        const int shared = TW_DIGITS * TW_BLOCK * (int)sizeof(int);
        tw_launch(tw, TW_KERNEL_COUNT, tiles, TW_BLOCK, shared, counted);
        tw_launch(tw, TW_KERNEL_SUMS, 1, TW_BLOCK, 2 * TW_BLOCK * (int)sizeof(int64_t), summed);
        tw_launch(tw, TW_KERNEL_MOVE, tiles, TW_BLOCK, shared, sorted);
        const Array swap = from;
        from = to;
        to = swap;
    }
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------- */

/* What an array is: bytes of a number, numbers of an element, whether it is given, handed out, or one element. */
typedef struct {
    int size, width, given, result, one;
} tw_shape;

/* A program: its arrays, the number of its checks, and what is done. */
typedef struct {
    const tw_shape *shapes;
    int slots, checks;
    void (*steps)(tw_context *tw);
} tw_program;

/* A program with its arrays on a device, which are kept from run to run. */
typedef struct {
    const tw_program *program;
    tw_context tw;
} tw_session;

static void tw_close(tw_session *session)
{
    const tw_machine *machine = session->tw.machine;
    machine->wait(machine->self);
    for (int i = 0; session->tw.slots != NULL && i < session->program->slots; ++i)
        if (session->tw.slots[i].data != NULL)
            machine->give_back(machine->self, session->tw.slots[i].data, session->program->shapes[i].one);
    if (session->tw.device.report != NULL) machine->give_back(machine->self, session->tw.device.report, 0);
    free(session->tw.slots);
    free(session->tw.memo);
    session->tw.slots = NULL;
    session->tw.memo = NULL;
    session->tw.device.report = NULL;
#if defined(TW_EMULATOR)
    delete session->tw.context;
    session->tw.context = NULL;
#endif
}

/* Copies what is given to the device. Returns 0, or 1 where there is no memory; close it then, too. */
static int tw_open(tw_session *session, const tw_program *program, const tw_machine *machine, const tw_slot *given,
                   tw_report *report)
{
    tw_context *tw = &session->tw;
    memset(report, 0, sizeof *report);
    session->program = program;
    tw->machine = machine;
    tw->report = report;
    tw->under_way = 0;
    tw->slots = (tw_slot *)calloc((size_t)program->slots + 1, sizeof(tw_slot));
    tw->memo = (int64_t *)calloc((size_t)program->checks + 1, sizeof(int64_t));
    tw->device.report = (tw_report *)machine->take(machine->self, sizeof(tw_report) + sizeof(int64_t), 0);
    tw->device.stop = (const int64_t *)(tw->device.report + 1);
#if defined(TW_EMULATOR)
    tw->context = new tw_emulator::Context;
    tw->context->capacity = 3;
    tw->context->fields.resize((size_t)program->slots);
#endif
    if (tw->slots == NULL || tw->memo == NULL || tw->device.report == NULL) {
        tw_fault(report, -1, 0, 0);
        return 1;
    }
    for (int i = 0; i < program->slots; ++i) {
        const tw_shape shape = program->shapes[i];
        if (!shape.given) continue;
        tw_slot *own = &tw->slots[i];
        const int64_t numbers = given[i].length * shape.width, bytes = numbers * shape.size;
        own->capacity = bytes + 256;
        own->data = machine->take(machine->self, own->capacity, shape.one);
        if (own->data == NULL) {
            tw_fault(report, -1, given[i].length, shape.size * shape.width);
            return 1;
        }
        own->length = given[i].length;
        if (bytes > 0 && machine->copy(machine->self, own->data, given[i].data, bytes)) {
            tw_fault(report, -2, 0, 0);
            return 1;
        }
#if defined(TW_EMULATOR)
        tw_emulator::renew(*tw->context, i, own->data, numbers, tw_emulator::INITIALISED | tw_emulator::FIXED);
#endif
    }
    return 0;
}

/* Runs the program. Returns 0, or 1 where the report says what was found wrong. */
static int tw_run(tw_session *session)
{
    tw_context *tw = &session->tw;
    const tw_machine *machine = tw->machine;
    const struct {
        tw_report report;
        int64_t stop;
    } clear = {{0, {0, 0}}, 0};
    memset(tw->report, 0, sizeof *tw->report);
    memset(tw->memo, 0, (size_t)session->program->checks * sizeof(int64_t));
    if (machine->copy(machine->self, tw->device.report, &clear, sizeof clear)) tw_fault(tw->report, -2, 0, 0);
    if (tw->report->check == 0) session->program->steps(tw);
    tw->under_way = 1;
    return tw_wait(tw);
}

/* Copies results back; arrays of the host are made, or used again. Returns 0, or 1 where there is no memory. */
static int tw_download(tw_session *session, tw_slot *slots)
{
    tw_context *tw = &session->tw;
    for (int i = 0; i < session->program->slots; ++i) {
        const tw_shape shape = session->program->shapes[i];
        if (!shape.result) continue;
        const tw_slot *own = &tw->slots[i];
        const int64_t bytes = own->length * shape.width * shape.size;
        if (slots[i].data == NULL || slots[i].capacity < bytes) {
            free(slots[i].data);
            slots[i].capacity = bytes + 64;
            slots[i].data = malloc((size_t)slots[i].capacity);
            if (slots[i].data == NULL) {
                tw_fault(tw->report, -1, own->length, shape.width * shape.size);
                slots[i].length = slots[i].capacity = 0;
                return 1;
            }
        }
        slots[i].length = own->length;
        if (bytes > 0 && tw->machine->copy(tw->machine->self, slots[i].data, own->data, bytes)) {
            tw_fault(tw->report, -2, 0, 0);
            return 1;
        }
#if defined(TW_EMULATOR)
        tw_emulator::look_for_unwritten(*tw->context, i);
#endif
    }
    return 0;
}
#endif

#if defined(TW_EMULATOR)
#include "tw_nested_emulator.h"
#endif
