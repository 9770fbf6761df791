
/* The same as two halves, where vectors have four doubles or numbers are not gathered: they are looked up one by one. A vector
 * of eight doubles would lie in memory. */
#if !defined(TW_WIDE) && defined(__AVX2__) && defined(__GNUC__) && !defined(TW_NARROW)
#include <immintrin.h>
#define TW_WIDE 1
#define TW_HALVES 1
typedef struct {
    __m256d low, high;
} tw_f64x8;
typedef __m256 tw_f32x8;
#define TW_OF_HALVES(a, b, how) ((tw_f64x8){ how((a).low, (b).low), how((a).high, (b).high) })
TW_INLINE tw_f64x8 tw_all_f64(double x)
{
    return (tw_f64x8){ _mm256_set1_pd(x), _mm256_set1_pd(x) };
}
TW_INLINE tw_f64x8 tw_loaded_f64(const double *at)
{
    return (tw_f64x8){ _mm256_loadu_pd(at), _mm256_loadu_pd(at + 4) };
}
TW_INLINE void tw_store_f64(double *to, tw_f64x8 lanes)
{
    _mm256_storeu_pd(to, lanes.low);
    _mm256_storeu_pd(to + 4, lanes.high);
}
TW_INLINE tw_f64x8 tw_add_f64(tw_f64x8 a, tw_f64x8 b)
{
    return TW_OF_HALVES(a, b, _mm256_add_pd);
}
TW_INLINE tw_f64x8 tw_sub_f64(tw_f64x8 a, tw_f64x8 b)
{
    return TW_OF_HALVES(a, b, _mm256_sub_pd);
}
TW_INLINE tw_f64x8 tw_mul_f64(tw_f64x8 a, tw_f64x8 b)
{
    return TW_OF_HALVES(a, b, _mm256_mul_pd);
}
TW_INLINE tw_f64x8 tw_div_f64(tw_f64x8 a, tw_f64x8 b)
{
    return TW_OF_HALVES(a, b, _mm256_div_pd);
}
TW_INLINE tw_f64x8 tw_neg_f64(tw_f64x8 a)
{
    return TW_OF_HALVES(a, tw_all_f64(-0.0), _mm256_xor_pd);
}
#define TW_ALL_F64(x) tw_all_f64(x)
#define TW_LOADED_F64(at) tw_loaded_f64(at)
#define TW_STORE_F64(to, lanes) tw_store_f64(to, lanes)
#define TW_ADD_F64(a, b) tw_add_f64(a, b)
#define TW_SUB_F64(a, b) tw_sub_f64(a, b)
#define TW_MUL_F64(a, b) tw_mul_f64(a, b)
#define TW_DIV_F64(a, b) tw_div_f64(a, b)
#define TW_NEG_F64(a) tw_neg_f64(a)
#define TW_ALL_F32(x) _mm256_set1_ps(x)
#define TW_LOADED_F32(at) _mm256_loadu_ps(at)
#define TW_STORE_F32(to, lanes) _mm256_storeu_ps(to, lanes)
/* Lanes 0 and 4, 2 and 6, 1 and 5, 3 and 7 first, as the lanes of every reduction. */
TW_INLINE double tw_sum_f64(tw_f64x8 lanes)
{
    const __m256d four = _mm256_add_pd(lanes.low, lanes.high);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return two[0] + two[1];
}
#define TW_SUM_F64(lanes) tw_sum_f64(lanes)
/* The first lanes, 7 at most, are added to a sum in order; to add -0 changes nothing. */
#if !defined(__AVX512VL__)
static const double tw_lanes_out[16] = { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0 };
static const int64_t tw_lanes_in[16] = { -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0 };
TW_INLINE __m256d tw_first_of(__m256d lanes, int64_t at)
{
    const __m256d in = _mm256_loadu_pd((const double *)(const void *)(tw_lanes_in + at));
    return _mm256_or_pd(_mm256_and_pd(lanes, in), _mm256_loadu_pd(tw_lanes_out + at));
}
#endif
TW_INLINE double tw_rest_f64(double sum, tw_f64x8 lanes, int64_t count)
{
#if defined(__AVX512VL__)
    const __mmask8 in = (__mmask8)((1u << count) - 1);
    const __m256d low = _mm256_mask_mov_pd(_mm256_set1_pd(-0.0), in, lanes.low);
    const __m256d high = _mm256_mask_mov_pd(_mm256_set1_pd(-0.0), in >> 4, lanes.high);
#else
    const __m256d low = tw_first_of(lanes.low, 8 - count), high = tw_first_of(lanes.high, 12 - count);
#endif
    const __m128d a = _mm256_castpd256_pd128(low), b = _mm256_extractf128_pd(low, 1);
    const __m128d c = _mm256_castpd256_pd128(high), d = _mm256_extractf128_pd(high, 1);
    return ((((((sum + a[0]) + a[1]) + b[0]) + b[1]) + c[0]) + c[1]) + d[0];
}
#define TW_REST_F64(sum, lanes, count) tw_rest_f64(sum, lanes, count)
/* What is looked up, two at a time: of eight at once compilers load all indices first, more than there are registers. Where
 * indices are checked and one is wrong, nothing is looked up, and `out` says so. */
#define TW_LOOKED_UP(T)                                                                                                 \
    TW_INLINE __m256d tw_four_##T(const double *from, const T *at)                                                      \
    {                                                                                                                  \
        const __m128d low = _mm_loadh_pd(_mm_load_sd(from + at[0]), from + at[1]);                                     \
        const __m128d high = _mm_loadh_pd(_mm_load_sd(from + at[2]), from + at[3]);                                    \
        return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);                                             \
    }                                                                                                                  \
    TW_INLINE tw_f64x8 tw_gathered_f64_##T(const double *from, const T *at)                                             \
    {                                                                                                                  \
        return (tw_f64x8){ tw_four_##T(from, at), tw_four_##T(from, at + 4) };                                         \
    }                                                                                                                  \
    TW_INLINE tw_f32x8 tw_gathered_f32_##T(const float *from, const T *at)                                              \
    {                                                                                                                  \
        return _mm256_setr_ps(from[at[0]], from[at[1]], from[at[2]], from[at[3]], from[at[4]], from[at[5]], from[at[6]], \
            from[at[7]]);                                                                                              \
    }                                                                                                                  \
    TW_INLINE tw_f64x8 tw_inside_f64_##T(const double *from, const T *at, int64_t length, int *out)                     \
    {                                                                                                                  \
        if (tw_all_inside_##T(at, length)) return tw_gathered_f64_##T(from, at);                                       \
        *out = 1;                                                                                                      \
        return tw_all_f64(0.0);                                                                                        \
    }
/* Whether eight indices lie in a sequence. Negative ones are large. */
TW_INLINE bool tw_all_inside_int32_t(const int32_t *at, int64_t length)
{
    const uint32_t bound = length < INT32_MAX ? (uint32_t)length : (uint32_t)INT32_MAX + 1;
    const __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)at);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(all, _mm256_set1_epi32((int)bound)), all)) == 0;
}
TW_INLINE bool tw_all_inside_int64_t(const int64_t *at, int64_t length)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)at);
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(at + 4));
    const __m256i bound = _mm256_set1_epi64x(length);
    const __m256i below = _mm256_and_si256(_mm256_cmpgt_epi64(bound, a), _mm256_cmpgt_epi64(bound, b));
    return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_andnot_si256(_mm256_or_si256(a, b), below))) == 15;
}
TW_LOOKED_UP(int32_t)
TW_LOOKED_UP(int64_t)
#define TW_EITHER(what, at) _Generic(*(at), int32_t: tw_##what##_int32_t, default: tw_##what##_int64_t)
#define TW_GATHERED_F64(from, at) TW_EITHER(gathered_f64, at)(from, (const void *)(at))
#define TW_GATHERED_F32(from, at) TW_EITHER(gathered_f32, at)(from, (const void *)(at))
#if TW_CHECKS
#define TW_INSIDE_F64(from, at, length, out) TW_EITHER(inside_f64, at)(from, (const void *)(at), length, out)
#else
#define TW_INSIDE_F64(from, at, length, out) TW_GATHERED_F64(from, at)
#endif
/* Eight that lie next to each other are loaded at once. */
TW_INLINE bool tw_is_run_int32_t(const int32_t *at)
{
    const __m256i run = _mm256_add_epi32(_mm256_set1_epi32(at[0]), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i *)(const void *)at), run)) == -1;
}
TW_INLINE bool tw_is_run_int64_t(const int64_t *at)
{
    const __m256i low = _mm256_add_epi64(_mm256_set1_epi64x(at[0]), _mm256_setr_epi64x(0, 1, 2, 3));
    const __m256i high = _mm256_add_epi64(_mm256_set1_epi64x(at[0]), _mm256_setr_epi64x(4, 5, 6, 7));
    const __m256i a = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(const void *)at), low);
    const __m256i b = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(at + 4)), high);
    return _mm256_movemask_epi8(_mm256_and_si256(a, b)) == -1;
}
#define TW_INSIDE_RUNS(T)                                                                                              \
    TW_INLINE tw_f64x8 tw_inside_runs_f64_##T(const double *from, const T *at, int64_t length, int *out)               \
    {                                                                                                                  \
        (void)out;                                                                                                     \
        if (tw_is_run_##T(at) && (!TW_CHECKS || (at[0] >= 0 && at[0] <= length - 8))) {                                \
            return (tw_f64x8){ _mm256_loadu_pd(from + at[0]), _mm256_loadu_pd(from + at[0] + 4) };                     \
        }                                                                                                              \
        return TW_INSIDE_F64(from, at, length, out);                                                                   \
    }                                                                                                                  \
    /* Whether the first eight of a row do, if it has so many. */                                                      \
    TW_INLINE bool tw_begins_with_run_##T(const T *indices, int64_t from, int64_t to, int64_t all)                     \
    {                                                                                                                  \
        return from >= 0 && to <= all && to >= 8 && from <= to - 8 && tw_is_run_##T(indices + from);                   \
    }
TW_INSIDE_RUNS(int32_t)
TW_INSIDE_RUNS(int64_t)
#define TW_INSIDE_RUNS_F64(from, at, length, out) TW_EITHER(inside_runs_f64, at)(from, (const void *)(at), length, out)
#define TW_BEGINS_WITH_RUN(indices, from, to, all)                                                                     \
    TW_EITHER(begins_with_run, indices)((const void *)(indices), from, to, all)
/* Eight at a time by the processor's own instruction where they lie apart: it is slower, but waits for all of them at once. */
#if defined(__AVX512F__) && defined(__AVX512VL__)
#define TW_INSIDE_APART(T, GATHER)                                                                                     \
    TW_INLINE tw_f64x8 tw_inside_apart_f64_##T(const double *from, const T *at, int64_t length, int *out)              \
    {                                                                                                                  \
        if (TW_CHECKS && !tw_all_inside_##T(at, length)) {                                                             \
            *out = 1;                                                                                                  \
            return tw_all_f64(0.0);                                                                                    \
        }                                                                                                              \
        const __m512d all = GATHER;                                                                                    \
        return (tw_f64x8){ _mm512_castpd512_pd256(all), _mm512_extractf64x4_pd(all, 1) };                              \
    }
TW_INSIDE_APART(int32_t, _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(const void *)at), from, 8))
TW_INSIDE_APART(int64_t, _mm512_i64gather_pd(_mm512_loadu_si512(at), from, 8))
#define TW_INSIDE_APART_F64(from, at, length, out) TW_EITHER(inside_apart_f64, at)(from, (const void *)(at), length, out)
#define TW_APART 1
#endif
#endif
