
/* Products of rows: sums of x[e] * c[e], as every reduction is ordered: eight lanes, which are brought together pairwise, and then the
 * elements behind the last whole eight. Eight rows are computed at once, a row in a lane of a vector, so that a row's own lanes are
 * vectors of their own, and are never taken apart. */
#if defined(__GNUC__) && !defined(__clang__)
#define TW_ALONE __attribute__((noinline, noclone, unused))
typedef double tw_f64x4 __attribute__((vector_size(32)));
typedef double tw_f64x4_at __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t tw_i64x4 __attribute__((vector_size(32)));
#define TW_FOUR(at) (*(const tw_f64x4_at *)(at))
#define TW_PAIR(a, b, i, j, k, l) __builtin_shuffle(a, b, (tw_i64x4){ i, j, k, l })
/* The elements of eight rows, those of one place next to each other; of rows that there are not, those of the last one. */
TW_INLINE void tw_columns_f64(const double *x, int64_t rows, int64_t length, double *to)
{
    for (int half = 0; half < 8; half += 4) {
        const double *row[4];
        for (int r = 0; r < 4; ++r) row[r] = x + (half + r < rows ? half + r : rows - 1) * length;
        int64_t e = 0;
        for (; e + 4 <= length; e += 4) {
            const tw_f64x4 a = TW_FOUR(row[0] + e), b = TW_FOUR(row[1] + e), c = TW_FOUR(row[2] + e), d = TW_FOUR(row[3] + e);
            const tw_f64x4 p = TW_PAIR(a, b, 0, 4, 2, 6), q = TW_PAIR(a, b, 1, 5, 3, 7);
            const tw_f64x4 r = TW_PAIR(c, d, 0, 4, 2, 6), s = TW_PAIR(c, d, 1, 5, 3, 7);
            tw_f64x4 *own = (tw_f64x4 *)(void *)(to + 8 * e + half);
            own[0] = TW_PAIR(p, r, 0, 1, 4, 5);
            own[2] = TW_PAIR(q, s, 0, 1, 4, 5);
            own[4] = TW_PAIR(p, r, 2, 3, 6, 7);
            own[6] = TW_PAIR(q, s, 2, 3, 6, 7);
        }
        for (; e < length; ++e) {
            for (int r = 0; r < 4; ++r) to[8 * e + half + r] = row[r][e];
        }
    }
}
/* Of at most eight rows with all rows of c: to[8 * j + i]. Rows have at most 1024 elements. */
static TW_ALONE void tw_products_f64(
    const double *x, int64_t rows, const double *restrict c, int64_t count, int64_t length, double *restrict to)
{
    TW_ALIGNED double columns[8 * 1024];
    tw_columns_f64(x, rows, length, columns);
    const tw_f64x4 *own = (const tw_f64x4 *)(const void *)columns;
    const int64_t whole = length / 8 * 8;
    for (int64_t j = 0; j < count; j += 2) {
        const double *c0 = c + j * length, *c1 = j + 1 < count ? c0 + length : c0;
        tw_f64x4 sums[2][4];
#pragma GCC unroll 4
        for (int pair = 0; pair < 4; ++pair) {
            /* Lanes 0 and 4, 2 and 6, 1 and 5, 3 and 7. */
            tw_f64x4 a[4] = { 0 }, b[4] = { 0 };
#pragma GCC unroll 1
            for (int64_t e = pair / 2 + pair % 2 * 2; e < whole; e += 8) {
                const tw_f64x4 p = own[2 * e], q = own[2 * e + 1], r = own[2 * e + 8], s = own[2 * e + 9];
                a[0] += p * c0[e], a[1] += q * c0[e], a[2] += p * c1[e], a[3] += q * c1[e];
                b[0] += r * c0[e + 4], b[1] += s * c0[e + 4], b[2] += r * c1[e + 4], b[3] += s * c1[e + 4];
            }
#pragma GCC unroll 4
            for (int k = 0; k < 4; ++k) {
                sums[pair / 2][k] = pair % 2 == 0 ? a[k] + b[k] : sums[pair / 2][k] + (a[k] + b[k]);
            }
        }
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) sums[0][k] += sums[1][k];
        for (int64_t e = whole; e < length; ++e) {
            const tw_f64x4 p = own[2 * e], q = own[2 * e + 1];
            sums[0][0] += p * c0[e], sums[0][1] += q * c0[e], sums[0][2] += p * c1[e], sums[0][3] += q * c1[e];
        }
        tw_f64x4 *out = (tw_f64x4 *)(void *)(to + 8 * j);
        out[0] = sums[0][0], out[1] = sums[0][1];
        if (j + 1 < count) out[2] = sums[0][2], out[3] = sums[0][3];
    }
}
#else
static inline void tw_products_f64(
    const double *x, int64_t rows, const double *c, int64_t count, int64_t length, double *to)
{
    for (int64_t j = 0; j < count; ++j) {
        for (int64_t i = 0; i < rows; ++i) {
            const double *a = x + i * length, *b = c + j * length;
            double lanes[8] = { 0 };
            int64_t e = 0;
            for (; e + 8 <= length; e += 8) {
                for (int l = 0; l < 8; ++l) lanes[l] = lanes[l] + a[e + l] * b[e + l];
            }
            for (int half = 4; half > 0; half /= 2) {
                for (int l = 0; l < half; ++l) lanes[l] = lanes[l] + lanes[l + half];
            }
            for (; e < length; ++e) lanes[0] = lanes[0] + a[e] * b[e];
            to[8 * j + i] = lanes[0];
        }
    }
}
#endif
