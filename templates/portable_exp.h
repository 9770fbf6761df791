/* portable_exp.h: the exponential, bit for bit alike in Rust, C99, C++ and CUDA.
 *
 * Made of correctly rounded + - *, comparisons and integer operations only, so that every
 * machine computes the same bits, provided that products and sums are not contracted
 * (-ffp-contract=off; the CUDA intrinsics below are never contracted) and subnormals are not
 * flushed. No branches, so that compilers vectorise it.
 *
 * exp(x) = 2^n exp(r) with n = round(x / ln 2), r = x - n ln 2 (Cody and Waite 1980),
 * |r| <= ln(2) / 2. The factor 2^n is applied in two halves, which also gives subnormal results
 * their one rounding.
 * The same operations in Rust: polyhedral/src/portable_exp.rs; a test compares the bits. */
#ifndef TW_PORTABLE_EXP_H
#define TW_PORTABLE_EXP_H

#ifndef TW_FUNCTION
#if defined(__CUDACC__)
#define TW_FUNCTION static __device__ __forceinline__
#else
#define TW_FUNCTION static inline
#endif
#endif

#if defined(__CUDA_ARCH__)
#define TW_ADDF(a, b) __fadd_rn((a), (b))
#define TW_SUBF(a, b) __fsub_rn((a), (b))
#define TW_MULF(a, b) __fmul_rn((a), (b))
#define TW_ADD(a, b) __dadd_rn((a), (b))
#define TW_SUB(a, b) __dsub_rn((a), (b))
#define TW_MUL(a, b) __dmul_rn((a), (b))
#else
#define TW_ADDF(a, b) ((a) + (b))
#define TW_SUBF(a, b) ((a) - (b))
#define TW_MULF(a, b) ((a) * (b))
#define TW_ADD(a, b) ((a) + (b))
#define TW_SUB(a, b) ((a) - (b))
#define TW_MUL(a, b) ((a) * (b))
#endif

union tw_bits32 {
    float value;
    unsigned int bits;
};

union tw_bits64 {
    double value;
    unsigned long long bits;
};

TW_FUNCTION unsigned int tw_to_bits32(float value) {
    union tw_bits32 both;
    both.value = value;
    return both.bits;
}

TW_FUNCTION float tw_from_bits32(unsigned int bits) {
    union tw_bits32 both;
    both.bits = bits;
    return both.value;
}

TW_FUNCTION unsigned long long tw_to_bits64(double value) {
    union tw_bits64 both;
    both.value = value;
    return both.bits;
}

TW_FUNCTION double tw_from_bits64(unsigned long long bits) {
    union tw_bits64 both;
    both.bits = bits;
    return both.value;
}

/* exp(x) in binary32. */
TW_FUNCTION float tw_expf(float x) {
    unsigned int bits = tw_to_bits32(x);
    /* Below -104 and above 89 the result is 0 and infinity all the same. Bits of negative
     * numbers ascend with their size as unsigned integers, bits of positive numbers as signed
     * ones. Comparing integers, not numbers, lets gcc vectorise with -ftrapping-math. */
    unsigned int low = bits > 0xC2D00000u ? 0xC2D00000u : bits;
    float c = tw_from_bits32((int)low > 0x42B20000 ? 0x42B20000u : low);
    /* Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits. */
    float shifted = TW_ADDF(TW_MULF(c, 1.44269504f), 12582912.0f);
    float n = TW_SUBF(shifted, 12582912.0f);
    /* n + 254, in 103 .. 382 */
    unsigned int biased = tw_to_bits32(shifted) - 0x4B400000u + 254u;
    float r = TW_SUBF(TW_SUBF(c, TW_MULF(n, 0.693359375f)), TW_MULF(n, -2.12194440e-4f));
    float p = 1.9875691500e-4f;
    p = TW_ADDF(TW_MULF(p, r), 1.3981999507e-3f);
    p = TW_ADDF(TW_MULF(p, r), 8.3334519073e-3f);
    p = TW_ADDF(TW_MULF(p, r), 4.1665795894e-2f);
    p = TW_ADDF(TW_MULF(p, r), 1.6666665459e-1f);
    p = TW_ADDF(TW_MULF(p, r), 0.5f);
    p = TW_ADDF(TW_MULF(p, TW_MULF(r, r)), r);
    p = TW_ADDF(p, 1.0f);
    unsigned int half = biased >> 1;
    float first = tw_from_bits32(half << 23);
    float second = tw_from_bits32((biased - half) << 23);
    /* NaN gives the same NaN, by a mask: a conditional would be turned into a branch. */
    unsigned int nan = 0u - (unsigned int)((int)(bits & 0x7FFFFFFFu) > 0x7F800000);
    unsigned int result = tw_to_bits32(TW_MULF(TW_MULF(p, first), second));
    return tw_from_bits32((result & ~nan) | (bits & nan));
}

/* exp(x) in binary64. */
TW_FUNCTION double tw_exp(double x) {
    unsigned long long bits = tw_to_bits64(x);
    /* -746 and 710 */
    unsigned long long low = bits > 0xC087500000000000ull ? 0xC087500000000000ull : bits;
    double c = tw_from_bits64((long long)low > 0x4086300000000000ll ? 0x4086300000000000ull : low);
    double shifted = TW_ADD(TW_MUL(c, 1.4426950408889634), 6755399441055744.0);
    double n = TW_SUB(shifted, 6755399441055744.0);
    /* n + 2046, in 969 .. 3070 */
    unsigned long long biased = tw_to_bits64(shifted) - 0x4338000000000000ull + 2046ull;
    double r = TW_SUB(TW_SUB(c, TW_MUL(n, 6.93147180369123816490e-01)),
                      TW_MUL(n, 1.90821492927058770002e-10));
    /* 1/13!, 1/12!, ..., 1/2! */
    double p = 1.6059043836821613e-10;
    p = TW_ADD(TW_MUL(p, r), 2.08767569878681e-09);
    p = TW_ADD(TW_MUL(p, r), 2.505210838544172e-08);
    p = TW_ADD(TW_MUL(p, r), 2.755731922398589e-07);
    p = TW_ADD(TW_MUL(p, r), 2.7557319223985893e-06);
    p = TW_ADD(TW_MUL(p, r), 2.48015873015873e-05);
    p = TW_ADD(TW_MUL(p, r), 1.984126984126984e-04);
    p = TW_ADD(TW_MUL(p, r), 1.388888888888889e-03);
    p = TW_ADD(TW_MUL(p, r), 8.333333333333333e-03);
    p = TW_ADD(TW_MUL(p, r), 4.1666666666666664e-02);
    p = TW_ADD(TW_MUL(p, r), 1.6666666666666666e-01);
    p = TW_ADD(TW_MUL(p, r), 0.5);
    p = TW_ADD(TW_MUL(p, TW_MUL(r, r)), r);
    p = TW_ADD(p, 1.0);
    unsigned long long half = biased >> 1;
    double first = tw_from_bits64(half << 52);
    double second = tw_from_bits64((biased - half) << 52);
    unsigned long long nan =
        0ull - (unsigned long long)((long long)(bits & 0x7FFFFFFFFFFFFFFFull) >
                                    0x7FF0000000000000ll);
    unsigned long long result = tw_to_bits64(TW_MUL(TW_MUL(p, first), second));
    return tw_from_bits64((result & ~nan) | (bits & nan));
}

#endif
