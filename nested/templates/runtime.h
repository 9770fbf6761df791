/* What the kernels of a nested data-parallel program share. */
#ifndef TW_NESTED_RUNTIME_H
#define TW_NESTED_RUNTIME_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* An array: what is given, or what is computed. `length` counts elements; each has one number, or those of a vector. */
typedef struct {
    void *data;
    int64_t length;
    int64_t capacity;
} tw_slot;

/* The first thing that was found wrong: the number of a check (0: nothing, -1: no memory), and numbers that show it. */
typedef struct {
    int64_t check;
    int64_t numbers[2];
} tw_report;

typedef struct {
    tw_slot *slots;
    tw_report *report;
    int64_t *memo;
    int threads;
} tw_context;

#if defined(__GNUC__)
#define TW_COLD __attribute__((cold, noinline, unused))
#define TW_INLINE static inline __attribute__((unused))
#else
#define TW_COLD
#define TW_INLINE static inline
#endif

static TW_COLD void tw_fault(tw_report *report, int64_t check, int64_t a, int64_t b)
{
    int64_t none = 0;
    if (__atomic_compare_exchange_n(&report->check, &none, check, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        report->numbers[0] = a;
        report->numbers[1] = b;
    }
}

/* Room for elements of this size; what was there is lost. Blocks that are large enough are used again. */
static TW_COLD void *tw_room(tw_context *tw, int slot, int64_t length, int64_t bytes)
{
    tw_slot *own = &tw->slots[slot];
    int64_t need = length > 0 ? length : 0;
    if (need > (INT64_MAX - 4096) / bytes) {
        tw_fault(tw->report, -1, length, bytes);
        need = 0;
    }
    need *= bytes;
    if (own->data == NULL || own->capacity < need) {
        free(own->data);
        own->data = NULL;
        own->capacity = 0;
        int64_t room = (need / 64 + 1) * 64;
        own->data = aligned_alloc(64, (size_t)room);
        if (own->data == NULL) {
            tw_fault(tw->report, -1, length, bytes);
            own->length = 0;
            return NULL;
        }
        own->capacity = room;
    }
    own->length = length > 0 ? length : 0;
    return own->data;
}

/* Compiled with TW_UNCHECKED, indices and lengths are believed. */
#ifdef TW_UNCHECKED
#define TW_CHECKS 0
#else
#define TW_CHECKS 1
#endif

TW_INLINE bool tw_in(int64_t index, int64_t length, tw_report *report, int64_t check)
{
    if (!TW_CHECKS || (uint64_t)index < (uint64_t)length) return true;
    tw_fault(report, check, index, length);
    return false;
}

TW_INLINE int64_t tw_same(int64_t a, int64_t b, tw_report *report, int64_t check)
{
    if (!TW_CHECKS || a == b) return a;
    tw_fault(report, check, a, b);
    return 0;
}

TW_INLINE int64_t tw_count(int64_t count, tw_report *report, int64_t check)
{
    if (count >= 0) return count;
    tw_fault(report, check, count, 0);
    return 0;
}

TW_INLINE int64_t tw_positive(int64_t step, tw_report *report, int64_t check)
{
    if (step > 0) return step;
    tw_fault(report, check, step, 0);
    return INT64_MAX;
}

TW_INLINE int64_t tw_cyclic(int64_t count, int64_t length, tw_report *report, int64_t negative, int64_t empty)
{
    if (count < 0) tw_fault(report, negative, count, 0);
    if (count > 0 && length == 0) tw_fault(report, empty, 0, 0);
    return count > 0 && length > 0 ? count : 0;
}

TW_INLINE int64_t tw_range(int64_t start, int64_t end, int64_t stride, tw_report *report, int64_t zero, int64_t large)
{
    if (stride == 0) {
        tw_fault(report, zero, 0, 0);
        return 0;
    }
    if (stride > 0 ? start >= end : start <= end) return 0;
    uint64_t distance = stride > 0 ? (uint64_t)end - (uint64_t)start : (uint64_t)start - (uint64_t)end;
    uint64_t step = stride > 0 ? (uint64_t)stride : 0 - (uint64_t)stride;
    uint64_t count = (distance - 1) / step + 1;
    if (count <= (uint64_t)1 << 62) return (int64_t)count;
    tw_fault(report, large, 0, 0);
    return 0;
}

TW_INLINE int64_t tw_product(int64_t a, int64_t b, tw_report *report, int64_t check)
{
    if (b == 0 || a <= ((int64_t)1 << 62) / b) return a * b;
    tw_fault(report, check, 0, 0);
    return 0;
}

TW_INLINE int64_t tw_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Offsets begin with 0, never decrease, and end with the length; returns the number of rows. Indices lie in the sequence. */
#define TW_INPUTS(T)                                                                                                   \
    TW_INLINE int64_t tw_offsets_##T(const T *offsets, int64_t count, int64_t length, tw_report *report, int64_t check) \
    {                                                                                                                  \
        if (count < 1) {                                                                                               \
            tw_fault(report, check, 0, 0);                                                                             \
            return 0;                                                                                                  \
        }                                                                                                              \
        if (!TW_CHECKS) return count - 1;                                                                              \
        int wrong = offsets[0] != 0 || offsets[count - 1] != length;                                                   \
        for (int64_t i = 1; i < count; ++i) wrong |= offsets[i] < offsets[i - 1];                                      \
        if (!wrong) return count - 1;                                                                                  \
        for (int64_t i = 0; i < count; ++i) {                                                                          \
            int last = i + 1 == count;                                                                                 \
            if (offsets[i] < (i ? offsets[i - 1] : 0) || (!i && offsets[i]) || (last && offsets[i] != length)) {      \
                tw_fault(report, check, i, offsets[i]);                                                                \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return 0;                                                                                                      \
    }                                                                                                                  \
    TW_INLINE void tw_indices_##T(const T *indices, int64_t count, int64_t length, tw_context *tw, int64_t check)      \
    {                                                                                                                  \
        if (!TW_CHECKS || tw->memo[check] == length + 1) return;                                                       \
        T least = 0, most = -1;                                                                                        \
        _Pragma("omp parallel for simd num_threads(tw->threads) if (count > 65536) reduction(min : least) reduction(max : most)") \
        for (int64_t i = 0; i < count; ++i) {                                                                          \
            least = indices[i] < least ? indices[i] : least;                                                           \
            most = indices[i] > most ? indices[i] : most;                                                              \
        }                                                                                                              \
        if (least < 0 || most >= length) {                                                                             \
            tw_fault(tw->report, check, least < 0 ? least : most, length);                                             \
        } else {                                                                                                       \
            tw->memo[check] = length + 1;                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    /* The first row of a share: rows and their elements are dealt out evenly (Merrill and Garland, merge path). */   \
    TW_INLINE int64_t tw_share_##T(const T *offsets, int64_t rows, int64_t share, int64_t shares)                      \
    {                                                                                                                  \
        int64_t total = rows + (int64_t)offsets[rows];                                                                 \
        int64_t goal = total / shares * share + tw_min(total % shares, share);                                         \
        int64_t low = 0, high = rows;                                                                                  \
        while (low < high) {                                                                                           \
            int64_t middle = low + (high - low) / 2;                                                                   \
            if (middle + (int64_t)offsets[middle] < goal) low = middle + 1;                                            \
            else high = middle;                                                                                        \
        }                                                                                                              \
        return low;                                                                                                    \
    }
TW_INPUTS(int32_t)
TW_INPUTS(int64_t)

/* Whole numbers wrap around; a division by zero is reported. */
#define TW_INTEGERS(T, U, N)                                                                      \
    TW_INLINE T tw_add_##N(T a, T b) { return (T)((U)a + (U)b); }                                 \
    TW_INLINE T tw_sub_##N(T a, T b) { return (T)((U)a - (U)b); }                                 \
    TW_INLINE T tw_mul_##N(T a, T b) { return (T)((U)a * (U)b); }                                 \
    TW_INLINE T tw_neg_##N(T a) { return (T)(0 - (U)a); }                                         \
    TW_INLINE T tw_abs_##N(T a) { return a < 0 ? (T)(0 - (U)a) : a; }                             \
    TW_INLINE T tw_div_##N(T a, T b, tw_report *report, int64_t check)                            \
    {                                                                                             \
        if (b == 0) tw_fault(report, check, 0, 0);                                                \
        return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b;                                      \
    }                                                                                             \
    TW_INLINE T tw_rem_##N(T a, T b, tw_report *report, int64_t check)                            \
    {                                                                                             \
        if (b == 0) tw_fault(report, check, 0, 0);                                                \
        return b == 0 || b == -1 ? 0 : a % b;                                                     \
    }
TW_INTEGERS(int32_t, uint32_t, i32)
TW_INTEGERS(int64_t, uint64_t, i64)

/* To whole numbers: towards zero, the nearest that there is, and 0 of what is no number. */
TW_INLINE int32_t tw_to_i32(double a)
{
    return a != a ? 0 : a <= -2147483648.0 ? INT32_MIN : a >= 2147483647.0 ? INT32_MAX : (int32_t)a;
}

TW_INLINE int64_t tw_to_i64(double a)
{
    return a != a ? 0 : a <= -9223372036854775808.0 ? INT64_MIN : a >= 9223372036854775808.0 ? INT64_MAX : (int64_t)a;
}

/* Lets the threads of a team have teams of their own. */
TW_INLINE void tw_teams_in_teams(void)
{
#ifdef _OPENMP
    if (omp_get_max_active_levels() < 2) omp_set_max_active_levels(2);
#endif
}

/* The places of keys in ascending order, equal ones as they stand: sorted by eleven bits at a time. `other` is scratch. */
TW_INLINE void tw_order(const int64_t *keys, int64_t count, int64_t *order, int64_t *other)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int64_t i = 0; i < count; ++i) {
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
        order[i] = i;
    }
    if (count < 2) return;
    uint64_t range = (uint64_t)most - (uint64_t)least;
    int64_t *from = order, *to = other;
    for (int shift = 0; shift < 64 && range >> shift != 0; shift += 11) {
        int64_t starts[2048] = {0};
        for (int64_t i = 0; i < count; ++i) ++starts[((uint64_t)keys[i] - (uint64_t)least) >> shift & 2047];
        int64_t sum = 0;
        for (int i = 0; i < 2048; ++i) {
            int64_t own = starts[i];
            starts[i] = sum;
            sum += own;
        }
        for (int64_t i = 0; i < count; ++i) {
            uint64_t key = (uint64_t)keys[from[i]] - (uint64_t)least;
            to[starts[key >> shift & 2047]++] = from[i];
        }
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) memcpy(order, from, (size_t)count * sizeof *order);
}

#endif
