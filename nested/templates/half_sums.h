
/* Rows of few terms where vectors have four doubles: those of four rows at a time, a row in a lane, whatever their lengths. */
#if TW_HALVES
/* Behind the middle there is nothing of a row; -0 stands for it. */
static const int64_t tw_lanes_in[16] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0 };
static const double tw_lanes_out[16] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0 };
/* Four lanes of a row from its `skipped`-th term on, of `count` that it has, 8 at most. */
TW_INLINE __m256d tw_terms_of(const double *terms, int64_t skipped, int64_t count)
{
    const int64_t at = 8 + skipped - count;
    const __m256i in = _mm256_loadu_si256((const __m256i *)(const void *)(tw_lanes_in + at));
    return _mm256_or_pd(_mm256_maskload_pd(terms + skipped, in), _mm256_loadu_pd(tw_lanes_out + at));
}
/* Adds four lanes of each of four rows to their sums, one after the other. */
TW_INLINE __m256d tw_four_in_order(__m256d sum, const double *const terms[4], int64_t skipped, const int64_t count[4])
{
    const __m256d a = tw_terms_of(terms[0], skipped, count[0]), b = tw_terms_of(terms[1], skipped, count[1]);
    const __m256d c = tw_terms_of(terms[2], skipped, count[2]), d = tw_terms_of(terms[3], skipped, count[3]);
    const __m256d p = _mm256_unpacklo_pd(a, b), q = _mm256_unpackhi_pd(a, b);
    const __m256d r = _mm256_unpacklo_pd(c, d), s = _mm256_unpackhi_pd(c, d);
    sum = _mm256_add_pd(sum, _mm256_permute2f128_pd(p, r, 0x20));
    sum = _mm256_add_pd(sum, _mm256_permute2f128_pd(q, s, 0x20));
    sum = _mm256_add_pd(sum, _mm256_permute2f128_pd(p, r, 0x31));
    return _mm256_add_pd(sum, _mm256_permute2f128_pd(q, s, 0x31));
}
/* The sum of whole groups of eight terms; `terms` and `count` are what is left then. */
TW_INLINE double tw_groups_of(const double **terms, int64_t *count)
{
    tw_f64x8 lanes = TW_ALL_F64(0.0);
    for (; *count >= 8; *count -= 8, *terms += 8) lanes = TW_ADD_F64(lanes, TW_LOADED_F64(*terms));
    return TW_SUM_F64(lanes);
}
/* Rows of one length: nothing about them is unforeseen. */
TW_INLINE void tw_equal_rows(const double *terms, int64_t length, int64_t count, double *sums)
{
#define TW_ROWS_OF(n)                                            \
    for (int64_t i = 0; i < count; ++i, terms += (n)) {          \
        double sum = 0.0;                                        \
        for (int e = 0; e < (n); ++e) sum = sum + terms[e];      \
        sums[i] = sum;                                           \
    }                                                            \
    return
    switch (length) {
    case 1: TW_ROWS_OF(1);
    case 2: TW_ROWS_OF(2);
    case 3: TW_ROWS_OF(3);
    case 4: TW_ROWS_OF(4);
    case 5: TW_ROWS_OF(5);
    case 6: TW_ROWS_OF(6);
    case 7: TW_ROWS_OF(7);
    }
#undef TW_ROWS_OF
    for (int64_t i = 0; i < count; ++i) {
        int64_t left = length;
        double sum = length == 0 ? -0.0 : tw_groups_of(&terms, &left);
        for (; left > 0; --left) sum = sum + *terms++;
        sums[i] = sum;
    }
}
/* The terms of row i lie from offsets[i] - from on; 7 behind the last may be read, and 3 sums behind the last written. */
#define TW_ROW_SUMS(T)                                                                                                \
    TW_INLINE void tw_row_sums_f64_##T(                                                                               \
        const double *terms, int64_t from, const T *offsets, int64_t count, int64_t same, double *sums)               \
    {                                                                                                                 \
        if (same >= 0) {                                                                                              \
            tw_equal_rows(terms + ((int64_t)offsets[0] - from), same, count, sums);                                   \
            return;                                                                                                   \
        }                                                                                                             \
        for (int64_t i = 0; i < count; i += 4) {                                                                      \
            TW_ALIGNED double start[4];                                                                               \
            const double *at[4];                                                                                      \
            int64_t in[4], any = 0;                                                                                   \
            for (int r = 0; r < 4; ++r) {                                                                             \
                const int64_t row = tw_min(i + r, count - 1);                                                         \
                in[r] = (int64_t)offsets[row + 1] - (int64_t)offsets[row];                                            \
                at[r] = terms + ((int64_t)offsets[row] - from);                                                       \
                start[r] = in[r] == 0 ? -0.0 : 0.0;                                                                   \
                any |= in[r];                                                                                         \
            }                                                                                                         \
            for (int r = 0; any >= 8 && r < 4; ++r) {                                                                 \
                if (in[r] >= 8) start[r] = tw_groups_of(&at[r], &in[r]);                                              \
            }                                                                                                         \
            __m256d sum = tw_four_in_order(_mm256_load_pd(start), at, 0, in);                                         \
            if (any >= 5) sum = tw_four_in_order(sum, at, 4, in);                                                     \
            _mm256_storeu_pd(sums + i, sum);                                                                          \
        }                                                                                                             \
    }
TW_ROW_SUMS(int32_t)
TW_ROW_SUMS(int64_t)
/* Results of rows; what caches do not hold anyway does not pass through them, and nothing is read first. */
TW_INLINE void tw_put_f64(double *to, const double *from, int64_t count, bool large)
{
    if (!large || (uintptr_t)to % 32 != 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
        return;
    }
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) _mm256_stream_pd(to + i, _mm256_load_pd(from + i));
    for (; i < count; ++i) to[i] = from[i];
}
#define TW_PUT_ALL() _mm_sfence()
#endif
/* Rows whose terms are computed before they are added up, `same` as in tw_lengths: few enough that a processor looks up those of the next
 * ones meanwhile. */
#define TW_ROWS_AT_ONCE(same) (TW_HALVES && (same) >= 0 ? 128 : 16)
/* Whether rows are so short, or so much alike, that their terms are best computed before they are added up: where a few are long among short
 * ones, it is better to have these one after the other. */
TW_INLINE bool tw_short_rows(const tw_lengths *lengths, int64_t elements)
{
    if (TW_HALVES && lengths->same < 0) return lengths->bits >= 0 && lengths->bits < 16 && 2 * elements <= 9 * lengths->filled;
    if (TW_HALVES && lengths->same == 0) return true;
    if (lengths->bits % 8 == 0) return false;
    if (lengths->same >= 0) return lengths->same <= 15;
    return elements <= 7 * lengths->filled || (lengths->bits < 32 && elements <= 10 * lengths->filled);
}
/* Whether a group's rows differ in length and are of one block: they are best checked all at once, before there is any test but for their
 * ends. */
TW_INLINE bool tw_uneven(const tw_lengths *lengths, int64_t elements)
{
    return TW_HALVES && lengths->same < 0 && lengths->bits >= 0 && elements <= 4096;
}
