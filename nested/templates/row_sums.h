/* Of the lengths of some rows: the only one where there is one, else -1, all bits, how many are not 0, whether some of them differ that
 * were looked at, and whether they are known to be 16 and more on the average. Bits of -1 say that only few were looked at. */
typedef struct {
    int64_t same, bits, filled;
    bool mixed, many;
} tw_lengths;

/* Sums of rows, a row in a lane. The order within a row is that of every reduction: eight partial sums of whole
 * groups of eight, brought together, then what is left. To add -0 changes nothing; it is the sum of no terms. */
#if TW_WIDE && !TW_HALVES
/* Short rows: the terms of all lie next to each other, those of row i from offsets[i] - from on; 112 more may be read. */
#define TW_TERM(places, step, in, other) _mm512_mask_i64gather_pd(other, in, places, terms + (step), 8)
/* The partial sums of eight rows by so many whole groups, brought together. */
static __attribute__((always_inline)) inline __m512d tw_whole_groups(const double *terms, __m512i begin, __m512i groups)
{
    const int64_t most = _mm512_reduce_max_epi64(groups);
    __m512d lanes[8];
    for (int l = 0; l < 8; ++l) lanes[l] = _mm512_setzero_pd();
    if (most < 4) {
        for (int64_t group = 0; group < most; ++group) {
            const __mmask8 in = _mm512_cmpgt_epi64_mask(groups, _mm512_set1_epi64(group));
#pragma GCC unroll 8
            for (int l = 0; l < 8; ++l) lanes[l] = _mm512_add_pd(lanes[l], TW_TERM(begin, 8 * group + l, in, _mm512_set1_pd(-0.0)));
        }
    } else {
        /* Row by row where one is long. */
        TW_ALIGNED int64_t first[8], count[8];
        TW_ALIGNED double sums[64];
        _mm512_store_epi64(first, begin);
        _mm512_store_epi64(count, groups);
        for (int row = 0; row < 8; ++row) {
            __m512d sum = _mm512_setzero_pd();
            const double *own = terms + first[row];
            for (int64_t group = 0; group < count[row]; ++group, own += 8) sum = _mm512_add_pd(sum, _mm512_loadu_pd(own));
            _mm512_store_pd(sums + 8 * row, sum);
        }
        const __m512i rows = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
#pragma GCC unroll 8
        for (int l = 0; l < 8; ++l) lanes[l] = _mm512_i64gather_pd(rows, sums + l, 8);
    }
    for (int half = 4; half > 0; half /= 2) {
        for (int l = 0; l < half; ++l) lanes[l] = _mm512_add_pd(lanes[l], lanes[l + half]);
    }
    return lanes[0];
}
static __attribute__((always_inline)) inline __m512d tw_eight_rows(const double *terms, __m512i begin, __m512i length)
{
    const __m512i groups = _mm512_srli_epi64(length, 3);
    __m512i rest = length;
    __m512d sum = _mm512_setzero_pd();
    if (_mm512_test_epi64_mask(groups, groups) != 0) {
        sum = tw_whole_groups(terms, begin, groups);
        begin = _mm512_add_epi64(begin, _mm512_slli_epi64(groups, 3));
        rest = _mm512_and_epi64(length, _mm512_set1_epi64(7));
    }
    __mmask8 in = 255;
#define TW_STEP(s)                                                                          \
    {                                                                                       \
        in = _mm512_cmpgt_epi64_mask(rest, _mm512_set1_epi64(s));                           \
        sum = _mm512_mask_add_pd(sum, in, sum, TW_TERM(begin, s, in, _mm512_setzero_pd())); \
    }
    if (_mm512_cmpgt_epi64_mask(rest, _mm512_set1_epi64(4)) != 0) {
        /* As many steps for all: what the longest row has cannot be foreseen. */
#pragma GCC unroll 8
        for (int s = 0; s < 7; ++s) TW_STEP(s)
    } else {
        for (int s = 0; s < 4 && in != 0; ++s) TW_STEP(s)
    }
#undef TW_STEP
    return _mm512_mask_mov_pd(_mm512_set1_pd(-0.0), _mm512_test_epi64_mask(length, length), sum);
}
/* The sums of the lanes of eight vectors that begin `step` numbers apart. */
static __attribute__((always_inline)) inline __m512d tw_lane_sums(const double *vectors, int64_t step)
{
    __m512d halves[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        /* 0 and 2, 4 and 6, 1 and 3, 5 and 7. */
        const int row = i / 2 + 4 * (i % 2);
        const __m512d a = _mm512_loadu_pd(vectors + step * row), b = _mm512_loadu_pd(vectors + step * (row + 2));
        halves[i] = _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xEE));
    }
#define TW_QUARTERS(a, b) _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xDD))
    const __m512d even = TW_QUARTERS(halves[0], halves[1]), odd = TW_QUARTERS(halves[2], halves[3]);
#undef TW_QUARTERS
    return _mm512_add_pd(_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd));
}
/* Rows of one length, which is 1 to 15: what is where is known. */
static inline void tw_equal_rows(const double *terms, int64_t length, int64_t count, double *sums)
{
    const __m512i one = _mm512_set1_epi64(1), even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), odd = _mm512_add_epi64(even, one);
    const __m512i third = _mm512_setr_epi64(0, 3, 6, 9, 12, 15, 18, 21);
    const __m512i fourth = _mm512_setr_epi64(0, 4, 8, 12, 2, 6, 10, 14), next = _mm512_add_epi64(fourth, one);
    const __m512i rows = _mm512_setr_epi64(0, length, 2 * length, 3 * length, 4 * length, 5 * length, 6 * length, 7 * length);
    for (int64_t i = 0; i < count; i += 8, terms += 8 * length) {
        const __m512d a = _mm512_loadu_pd(terms), b = _mm512_loadu_pd(terms + 8), c = _mm512_loadu_pd(terms + 16);
        __m512d sum = _mm512_setzero_pd();
        if (length == 1) {
            sum = _mm512_add_pd(sum, a);
        } else if (length == 2) {
            sum = _mm512_add_pd(sum, _mm512_permutex2var_pd(a, even, b));
            sum = _mm512_add_pd(sum, _mm512_permutex2var_pd(a, odd, b));
        } else if (length == 3) {
            __m512i places = third;
#pragma GCC unroll 3
            for (int s = 0; s < 3; ++s, places = _mm512_add_epi64(places, one)) {
                const __m512d some = _mm512_permutex2var_pd(a, places, b);
                sum = _mm512_add_pd(sum, _mm512_mask_permutexvar_pd(some, s == 0 ? 0xC0 : 0xE0, places, c));
            }
        } else if (length == 4) {
            const __m512d d = _mm512_loadu_pd(terms + 24);
            /* Terms 0 and 2, and 1 and 3, of four rows each. */
            const __m512d p = _mm512_permutex2var_pd(a, fourth, b), q = _mm512_permutex2var_pd(a, next, b);
            const __m512d r = _mm512_permutex2var_pd(c, fourth, d), t = _mm512_permutex2var_pd(c, next, d);
            sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(p, r, 0x44));
            sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(q, t, 0x44));
            sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(p, r, 0xEE));
            sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(q, t, 0xEE));
        } else {
            if (length >= 8) sum = _mm512_add_pd(sum, tw_lane_sums(terms, length));
            for (int64_t s = length & 8; s < length; ++s) sum = _mm512_add_pd(sum, _mm512_i64gather_pd(rows, terms + s, 8));
        }
        _mm512_storeu_pd(sums + i, sum);
    }
}
#define TW_ROW_SUMS(T, OFFSETS)                                                                                        \
    TW_INLINE void tw_row_sums_f64_##T(                                                                                \
        const double *terms, int64_t from, const T *offsets, int64_t count, int64_t same, double *sums)                \
    {                                                                                                                  \
        if (same >= 1) {                                                                                              \
            tw_equal_rows(terms + ((int64_t)offsets[0] - from), same, count, sums);                                    \
            return;                                                                                                    \
        }                                                                                                              \
        const __m512i base = _mm512_set1_epi64(from);                                                                  \
        for (int64_t i = 0; i < count; i += 8) {                                                                       \
            const __mmask8 in = (__mmask8)(count - i < 8 ? (1 << (count - i)) - 1 : 255);                              \
            const __m512i begin = OFFSETS(in, offsets + i);                                                            \
            const __m512i length = _mm512_sub_epi64(OFFSETS(in, offsets + i + 1), begin);                              \
            __m512d sum = _mm512_set1_pd(-0.0);                                                                        \
            if (_mm512_mask_cmpneq_epi64_mask(in, length, _mm512_set1_epi64(1)) == 0) {                                \
                const double *own = terms + ((int64_t)offsets[i] - from);                                              \
                sum = _mm512_add_pd(_mm512_setzero_pd(), _mm512_loadu_pd(own));                                        \
            } else if (_mm512_test_epi64_mask(length, length) != 0) {                                                  \
                sum = tw_eight_rows(terms, _mm512_maskz_sub_epi64(in, begin, base), length);                           \
            }                                                                                                          \
            _mm512_mask_storeu_pd(sums + i, in, sum);                                                                  \
        }                                                                                                              \
    }
#define TW_OFFSETS_i32(in, at) _mm512_cvtepi32_epi64(_mm256_maskz_loadu_epi32(in, at))
TW_ROW_SUMS(int32_t, TW_OFFSETS_i32)
TW_ROW_SUMS(int64_t, _mm512_maskz_loadu_epi64)
/* Other rows: whole groups of eight terms of a row are added up lane by lane, what is left is in lanes of another vector. */
/* Adds the lanes of eight vectors to eight sums, one after the other; the last lane is nothing. */
static __attribute__((always_inline)) inline __m512d tw_lanes_in_order(__m512d sum, const double *vectors)
{
    __m512d low[4], high[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
        const __m512d a = _mm512_load_pd(vectors + 16 * i), b = _mm512_load_pd(vectors + 16 * i + 8);
        low[i] = _mm512_unpacklo_pd(a, b);
        high[i] = _mm512_unpackhi_pd(a, b);
    }
    /* Lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7, of the first four vectors and of the others. */
    const __m512d list[8] = {
        _mm512_shuffle_f64x2(low[0], low[1], 0x88), _mm512_shuffle_f64x2(low[2], low[3], 0x88),
        _mm512_shuffle_f64x2(high[0], high[1], 0x88), _mm512_shuffle_f64x2(high[2], high[3], 0x88),
        _mm512_shuffle_f64x2(low[0], low[1], 0xDD), _mm512_shuffle_f64x2(low[2], low[3], 0xDD),
        _mm512_shuffle_f64x2(high[0], high[1], 0xDD), _mm512_shuffle_f64x2(high[2], high[3], 0xDD),
    };
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(list[2 * i], list[2 * i + 1], 0x88));
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(list[2 * i], list[2 * i + 1], 0xDD));
    return sum;
}
TW_INLINE void tw_eight_sums(const double *whole, const double *rest, bool left, double *sums)
{
    const __m512d sum = _mm512_add_pd(_mm512_setzero_pd(), tw_lane_sums(whole, 8));
    _mm512_storeu_pd(sums, left ? tw_lanes_in_order(sum, rest) : sum);
}
/* Rows of a group that are not empty, of which there are so many: where each begins and ends, from `from` on. */
typedef struct {
    int64_t begin[264], end[264];
    uint8_t marks[32];
} tw_filled;
#define TW_FILLED(T, OFFSETS)                                                                                          \
    TW_INLINE void tw_filled_rows_##T(                                                                                 \
        const T *offsets, int64_t from, int64_t count, int64_t filled, tw_filled *rows)                                \
    {                                                                                                                  \
        for (int64_t i = 0; filled == count && i < count; ++i) {                                                       \
            rows->begin[i] = offsets[i] - from;                                                                        \
            rows->end[i] = offsets[i + 1] - from;                                                                      \
        }                                                                                                              \
        if (filled == count) return;                                                                                   \
        const __m512i base = _mm512_set1_epi64(from);                                                                  \
        int64_t next = 0;                                                                                              \
        for (int64_t i = 0; i < count; i += 8) {                                                                       \
            const __mmask8 in = (__mmask8)(count - i < 8 ? (1 << (count - i)) - 1 : 255);                              \
            const __m512i begin = OFFSETS(in, offsets + i), end = OFFSETS(in, offsets + i + 1);                        \
            const __mmask8 some = _mm512_mask_cmpneq_epi64_mask(in, begin, end);                                       \
            _mm512_storeu_si512(rows->begin + next, _mm512_maskz_compress_epi64(some, _mm512_sub_epi64(begin, base))); \
            _mm512_storeu_si512(rows->end + next, _mm512_maskz_compress_epi64(some, _mm512_sub_epi64(end, base)));     \
            rows->marks[i / 8] = some;                                                                                 \
            next += __builtin_popcount(some);                                                                          \
        }                                                                                                              \
    }
TW_FILLED(int32_t, TW_OFFSETS_i32)
TW_FILLED(int64_t, _mm512_maskz_loadu_epi64)
/* The sums of all rows from those of the ones that are not empty. */
TW_INLINE void tw_spread(double *sums, int64_t filled, const tw_filled *rows, int64_t count)
{
    if (filled == count) return;
    TW_ALIGNED double own[264];
    memcpy(own, sums, (size_t)filled * sizeof *own);
    const double *next = own;
    for (int64_t i = 0; i < count; i += 8) {
        _mm512_storeu_pd(sums + i, _mm512_mask_expandloadu_pd(_mm512_set1_pd(-0.0), rows->marks[i / 8], next));
        next += __builtin_popcount(rows->marks[i / 8]);
    }
}
/* Results of rows; what caches do not hold anyway does not pass through them, and nothing is read first. */
TW_INLINE void tw_put_f64(double *to, const double *from, int64_t count, bool large)
{
    if (!large || (uintptr_t)to % 64 != 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
        return;
    }
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) _mm512_stream_pd(to + i, _mm512_load_pd(from + i));
    for (; i < count; ++i) to[i] = from[i];
}
#define TW_PUT_ALL() _mm_sfence()
#else
/* Nothing runs that uses these. */
typedef struct {
    int64_t begin[1], end[1];
} tw_filled;
#define tw_filled_rows_int32_t(offsets, from, count, filled, rows) ((void)(rows))
#define tw_filled_rows_int64_t(offsets, from, count, filled, rows) ((void)(rows))
#define tw_eight_sums(whole, rest, left, sums) ((void)(whole), (void)(rest), (void)(left), (void)(sums))
#define tw_spread(sums, filled, rows, count) ((void)(sums))
#endif
#if !TW_WIDE
#define tw_row_sums_f64_int32_t(terms, from, offsets, count, same, sums) ((void)(terms), (void)(sums))
#define tw_row_sums_f64_int64_t(terms, from, offsets, count, same, sums) ((void)(terms), (void)(sums))
#define tw_put_f64(to, from, count, large) ((void)(to), (void)(large))
#define TW_PUT_ALL() ((void)0)
#endif
