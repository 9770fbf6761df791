/* Sums of short rows, a row in a lane. The terms of all rows lie next to each other, those of row i from offsets[i] -
 * from on; eight more may be read. The order within a row is that of every reduction: eight partial sums of whole
 * groups of eight, brought together, then what is left. To add -0 changes nothing; it is the sum of no terms. */
#if TW_WIDE
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
#define TW_ROW_SUMS(T, OFFSETS)                                                                                        \
    TW_INLINE void tw_row_sums_f64_##T(const double *terms, int64_t from, const T *offsets, int64_t count, double *sums)\
    {                                                                                                                  \
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
#else
#define tw_row_sums_f64_int32_t(terms, from, offsets, count, sums) ((void)(terms), (void)(sums))
#define tw_row_sums_f64_int64_t(terms, from, offsets, count, sums) ((void)(terms), (void)(sums))
#endif

