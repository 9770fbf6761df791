
/* Sums of rows where vectors have four doubles: those that are terms themselves, or empty, as `same` says. */
#if TW_HALVES
#define TW_ROW_SUMS(T)                                                                                                \
    TW_INLINE void tw_row_sums_f64_##T(                                                                               \
        const double *terms, int64_t from, const T *offsets, int64_t count, int64_t same, double *sums)               \
    {                                                                                                                 \
        terms += (int64_t)offsets[0] - from;                                                                          \
        for (int64_t i = 0; i < count; ++i) sums[i] = same == 0 ? -0.0 : 0.0 + terms[i];                              \
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
    if (TW_HALVES) return lengths->same == 0 || lengths->same == 1;
    if (lengths->bits % 8 == 0) return false;
    if (lengths->same >= 0) return lengths->same <= 15;
    return elements <= 7 * lengths->filled || (lengths->bits < 32 && elements <= 10 * lengths->filled);
}
/* Whether a group's rows differ in length or are short, and are of one block: they are best checked all at once, before there is any test
 * but for their ends. */
TW_INLINE bool tw_uneven(const tw_lengths *lengths, int64_t elements)
{
    return TW_HALVES && lengths->same < 8 && lengths->bits >= 0 && elements <= 4096;
}
/* Whether what whole eights leave of rows is computed at once, as eight terms of which some are none, so that no jump depends on a length
 * that cannot be foreseen. Processors remember the lengths of few rows from call to call; and where there are more than `near` numbers to
 * look up, which no cache nearby holds, those of other rows take as long as the jump. */
TW_INLINE bool tw_at_once(const tw_lengths *lengths, int64_t rows, int64_t numbers, int64_t near)
{
    return TW_HALVES && lengths->mixed && rows > 8192 && numbers <= near;
}
/* Whether numbers are looked up in long rows and beyond the caches of a core, where the processor's own instructions wait for more of them
 * at a time. */
TW_INLINE bool tw_apart(const tw_lengths *lengths, int64_t numbers)
{
    return TW_APART && lengths->many && numbers > 1 << 17;
}
