/* Approximations of the device, in single precision, without flushing of subnormal numbers: a / b is off by at most 2
 * units in the last place, a root by at most 2^-23 of it, the reciprocal of a root by at most 2^-22.9 of it (PTX: div.full,
 * sqrt.approx, rsqrt.approx). The emulator moves exact values by as much, up or down by their bits. */
#ifdef __CUDA_ARCH__
TW_DEVICE float tw_quotient(float a, float b)
{
    float result;
    asm("div.full.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
TW_DEVICE float tw_root(float x)
{
    float result;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
TW_DEVICE float tw_over_root(float x)
{
    float result;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
#elif defined(TW_EMULATOR)
TW_DEVICE float tw_quotient(float a, float b) { return tw_emulator::moved(a / b, 2); }
TW_DEVICE float tw_root(float x) { return tw_emulator::moved(sqrtf(x), 1); }
TW_DEVICE float tw_over_root(float x) { return tw_emulator::moved(1 / sqrtf(x), 1); }
#else
TW_DEVICE float tw_quotient(float a, float b) { return a / b; }
TW_DEVICE float tw_root(float x) { return sqrtf(x); }
TW_DEVICE float tw_over_root(float x) { return 1 / sqrtf(x); }
#endif
