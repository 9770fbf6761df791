
#if defined(__GNUC__)
#define TW_ALIGNED __attribute__((aligned(64)))
/* What will be read soon: a page ahead of numbers of eight bytes, which caches do not foresee between rows. */
#define TW_AHEAD(at) __builtin_prefetch((const void *)((uintptr_t)(at) + 512 * sizeof *(at)))
#else
#define TW_ALIGNED
#define TW_AHEAD(at) ((void)0)
#endif

/* Whether numbers are gathered by the processor's instructions: those of AMD take longer than eight loads. */
#if !defined(TW_GATHERS)
#if defined(__znver1__) || defined(__znver2__) || defined(__znver3__) || defined(__znver4__) || defined(__znver5__)
#define TW_GATHERS 0
#else
#define TW_GATHERS 1
#endif
#endif

/* Vectors of eight numbers, where the processor gathers them. TW_NARROW leaves them out. */
#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__GNUC__) && TW_GATHERS && !defined(TW_NARROW)
#include <immintrin.h>
#define TW_WIDE 1
#define TW_HALVES 0
typedef double tw_f64x8 __attribute__((vector_size(64)));
typedef float tw_f32x8 __attribute__((vector_size(32)));
typedef double tw_f64x8_at __attribute__((vector_size(64), aligned(8), may_alias));
typedef float tw_f32x8_at __attribute__((vector_size(32), aligned(4), may_alias));
#define TW_ALL_F64(x) ((tw_f64x8){ x, x, x, x, x, x, x, x })
#define TW_ALL_F32(x) ((tw_f32x8){ x, x, x, x, x, x, x, x })
TW_INLINE tw_f64x8 tw_gathered_f64_i32(const double *from, const int32_t *at)
{
    return (tw_f64x8)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)(const void *)at), from, 8);
}
TW_INLINE tw_f64x8 tw_gathered_f64_i64(const double *from, const int64_t *at)
{
    return (tw_f64x8)_mm512_i64gather_pd(_mm512_loadu_si512(at), from, 8);
}
TW_INLINE tw_f32x8 tw_gathered_f32_i32(const float *from, const int32_t *at)
{
    return (tw_f32x8)_mm256_i32gather_ps(from, _mm256_loadu_si256((const __m256i *)(const void *)at), 4);
}
TW_INLINE tw_f32x8 tw_gathered_f32_i64(const float *from, const int64_t *at)
{
    return (tw_f32x8)_mm512_i64gather_ps(_mm512_loadu_si512(at), from, 4);
}
/* The same where indices are checked: those outside of the length look nothing up, and are noted in `out`. */
TW_INLINE tw_f64x8 tw_inside_f64_i32(const double *from, const int32_t *at, int64_t length, int *out)
{
    const uint32_t bound = length < INT32_MAX ? (uint32_t)length : (uint32_t)INT32_MAX + 1;
    const __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)at);
    const __mmask8 in = _mm256_cmplt_epu32_mask(all, _mm256_set1_epi32((int)bound));
    *out |= in ^ 255;
    return (tw_f64x8)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), in, all, from, 8);
}
TW_INLINE tw_f64x8 tw_inside_f64_i64(const double *from, const int64_t *at, int64_t length, int *out)
{
    const __m512i all = _mm512_loadu_si512(at);
    const __mmask8 in = _mm512_cmplt_epu64_mask(all, _mm512_set1_epi64(length));
    *out |= in ^ 255;
    return (tw_f64x8)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), in, all, from, 8);
}
/* The same for the first lanes alone, as many as bits of `in` are set: nothing of others is read. */
TW_INLINE tw_f64x8 tw_loaded_part_f64(const double *at, unsigned in)
{
    return (tw_f64x8)_mm512_maskz_loadu_pd((__mmask8)in, at);
}
TW_INLINE tw_f64x8 tw_inside_part_f64_i32(const double *from, const int32_t *at, int64_t length, int *out, unsigned in)
{
    const uint32_t bound = length < INT32_MAX ? (uint32_t)length : (uint32_t)INT32_MAX + 1;
    const __m256i all = _mm256_maskz_loadu_epi32((__mmask8)in, at);
    const __mmask8 right = _mm256_mask_cmplt_epu32_mask((__mmask8)in, all, _mm256_set1_epi32((int)bound));
    *out |= (int)(in ^ right);
    return (tw_f64x8)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), right, all, from, 8);
}
TW_INLINE tw_f64x8 tw_inside_part_f64_i64(const double *from, const int64_t *at, int64_t length, int *out, unsigned in)
{
    const __m512i all = _mm512_maskz_loadu_epi64((__mmask8)in, at);
    const __mmask8 right = _mm512_mask_cmplt_epu64_mask((__mmask8)in, all, _mm512_set1_epi64(length));
    *out |= (int)(in ^ right);
    return (tw_f64x8)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), right, all, from, 8);
}
TW_INLINE tw_f64x8 tw_gathered_part_f64_i32(const double *from, const int32_t *at, unsigned in)
{
    const __m256i all = _mm256_maskz_loadu_epi32((__mmask8)in, at);
    return (tw_f64x8)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), (__mmask8)in, all, from, 8);
}
TW_INLINE tw_f64x8 tw_gathered_part_f64_i64(const double *from, const int64_t *at, unsigned in)
{
    const __m512i all = _mm512_maskz_loadu_epi64((__mmask8)in, at);
    return (tw_f64x8)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), (__mmask8)in, all, from, 8);
}
/* -0 in other lanes. */
TW_INLINE tw_f64x8 tw_kept_f64(tw_f64x8 lanes, unsigned in)
{
    return (tw_f64x8)_mm512_mask_mov_pd(_mm512_set1_pd(-0.0), (__mmask8)in, (__m512d)lanes);
}
#define TW_LOADED_PART_F64(at, in) tw_loaded_part_f64(at, in)
#define TW_KEPT_F64(lanes, in) tw_kept_f64(lanes, in)
#define TW_GATHERED_PART_F64(from, at, in) \
    _Generic(*(at), int32_t: tw_gathered_part_f64_i32, default: tw_gathered_part_f64_i64)(from, (const void *)(at), in)
#define TW_GATHERED_F64(from, at) \
    _Generic(*(at), int32_t: tw_gathered_f64_i32, default: tw_gathered_f64_i64)(from, (const void *)(at))
#if TW_CHECKS
#define TW_INSIDE_F64(from, at, length, out) \
    _Generic(*(at), int32_t: tw_inside_f64_i32, default: tw_inside_f64_i64)(from, (const void *)(at), length, out)
#define TW_INSIDE_PART_F64(from, at, length, out, in)                                    \
    _Generic(*(at), int32_t: tw_inside_part_f64_i32, default: tw_inside_part_f64_i64)( \
        from, (const void *)(at), length, out, in)
#else
#define TW_INSIDE_F64(from, at, length, out) TW_GATHERED_F64(from, at)
#define TW_INSIDE_PART_F64(from, at, length, out, in) TW_GATHERED_PART_F64(from, at, in)
#endif
#define TW_GATHERED_F32(from, at) \
    _Generic(*(at), int32_t: tw_gathered_f32_i32, default: tw_gathered_f32_i64)(from, (const void *)(at))
#define TW_LOADED_F64(at) (*(const tw_f64x8_at *)(at))
#define TW_LOADED_F32(at) (*(const tw_f32x8_at *)(at))
#define TW_STORE_F64(to, lanes) (*(tw_f64x8_at *)(to) = (lanes))
#define TW_STORE_F32(to, lanes) (*(tw_f32x8_at *)(to) = (lanes))
/* The bits of the first lanes. */
#define TW_FIRST(count) ((1u << (count)) - 1)
#endif
