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

/* So many times as much work, as far as it matters. */
TW_INLINE int64_t tw_times(int64_t a, int64_t b)
{
    const int64_t most = (int64_t)1 << 40, own = a < 1 ? 1 : a, other = b < 1 ? 1 : b;
    return own > most / other ? most : own * other;
}

/* Whether an index is wrong, which is said later. */
TW_INLINE bool tw_outside(int64_t index, int64_t length)
{
    return TW_CHECKS && (uint64_t)index >= (uint64_t)length;
}

/* Whether a row begins before the first element, ends before it begins, or behind the last of all rows. */
TW_INLINE bool tw_wrong_row(int64_t begin, int64_t end, int64_t all)
{
    return TW_CHECKS && ((uint64_t)begin > (uint64_t)end || (uint64_t)end > (uint64_t)all);
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

