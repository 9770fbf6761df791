/* The nested data-parallel program @NAME@, made by Tilewright: several implementations, one of which each call takes. */
#include "tw_nested.h"
#include "@NAME@_choice.h"

#define FEATURES @FEATURES@

@DECLARED@
static int (*const implementations[])(tw_slot *, int, tw_report *) = {@CALLED@};
/* How many checks those before it have. */
static const int64_t checks_before[] = {@CHECKS@};
/* Calls beyond what was measured get the first implementation. */
static const double least[] = {@LEAST@};
static const double greatest[] = {@GREATEST@};

/* Offsets are not checked yet: whatever they are, these are numbers, and no more than the offsets is read. Of many rows 256
 * are looked at, and the mean of those up to the next one: a choice takes far less than the call. */
#define ROWS(T)                                                                                                        \
    TW_INLINE double average_row_length_##T(const tw_slot *slot)                                                       \
    {                                                                                                                  \
        const int64_t rows = slot->length - 1;                                                                         \
        return rows > 0 ? (double)((const T *)slot->data)[rows] / (double)rows : 0.0;                                  \
    }                                                                                                                  \
    TW_INLINE double row_length_skew_##T(const tw_slot *slot)                                                          \
    {                                                                                                                  \
        const double average = average_row_length_##T(slot);                                                           \
        const T *const offsets = (const T *)slot->data;                                                                \
        const int64_t rows = slot->length - 1, step = rows / 256 + 1;                                                  \
        int64_t longest = 0, most = 0;                                                                                 \
        for (int64_t first = 0; first < rows; first += step) {                                                         \
            const int64_t end = first + step < rows ? first + step : rows;                                             \
            const uint64_t begin = (uint64_t)(int64_t)offsets[first];                                                  \
            const int64_t own = (int64_t)((uint64_t)(int64_t)offsets[first + 1] - begin);                              \
            const int64_t all = (int64_t)((uint64_t)(int64_t)offsets[end] - begin);                                    \
            longest = own > longest ? own : longest;                                                                   \
            most = all > most ? all : most;                                                                            \
        }                                                                                                              \
        longest = most / step > longest ? most / step : longest;                                                       \
        return average > 0.0 ? (double)longest / average : 1.0;                                                        \
    }
ROWS(int32_t)
ROWS(int64_t)

@GATHERED@int @NAME@_variant(const tw_slot *slots, int threads)
{
    const char *wanted = getenv("TILEWRIGHT_VARIANT");
    for (int number = 0; wanted && @NAME@_choice_variant_name(number); ++number) {
        if (strcmp(wanted, @NAME@_choice_variant_name(number)) == 0) return number;
    }
    const double features[FEATURES] = {
@VALUES@
    };
    for (int i = 0; i < FEATURES; ++i) {
        if (!(features[i] >= least[i] && features[i] <= greatest[i])) return @NAME@_choice_DEFAULT;
    }
    return @NAME@_choice_choose(features);
}

/* Runs the program. Returns 0, or 1 where the report says what was found wrong. */
int @NAME@(tw_slot *slots, int threads, tw_report *report)
{
    const int variant = @NAME@_variant(slots, threads);
    const int wrong = @CALL@;
    if (wrong && report->check > 0) report->check += checks_before[variant];
    return wrong;
}

/* Frees all arrays but those that were given. */
void @NAME@_free(tw_slot *slots)
{
    @FREE@
}
@BEHIND@