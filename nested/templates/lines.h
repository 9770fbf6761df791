/* Results that go past the caches. */
#if defined(__AVX__) && defined(__GNUC__)
#include <immintrin.h>
#endif
/* Whether results are stored past the caches, which do not hold so many of them until they are read: nothing is read first then. */
TW_INLINE bool tw_past(const void *to, int64_t length)
{
    return length > (int64_t)1 << 21 && (uintptr_t)to % 64 == 0;
}
/* 64 bytes of results, which a compiler has in registers. */
#if defined(__AVX__) && defined(__GNUC__)
#define TW_LINE(T, V)                                                            \
    typedef T tw_line_##T##_of __attribute__((vector_size(32)));                      \
    TW_INLINE void tw_line_##T(T *to, const T *from, bool past)                       \
    {                                                                                 \
        const tw_line_##T##_of a = { V(from, 0) }, b = { V(from, 32 / sizeof(T)) };   \
        if (past) {                                                                   \
            _mm256_stream_si256((__m256i *)(void *)to, (__m256i)a);                   \
            _mm256_stream_si256((__m256i *)(void *)to + 1, (__m256i)b);               \
        } else {                                                                      \
            _mm256_storeu_si256((__m256i *)(void *)to, (__m256i)a);                   \
            _mm256_storeu_si256((__m256i *)(void *)to + 1, (__m256i)b);               \
        }                                                                             \
    }
#define TW_LINES_DONE() _mm_sfence()
#else
#define TW_LINE(T, V)                                                            \
    TW_INLINE void tw_line_##T(T *to, const T *from, bool past)                       \
    {                                                                                 \
        (void)past;                                                                   \
        memcpy(to, from, 64);                                                         \
    }
#define TW_LINES_DONE() ((void)0)
#endif
#define TW_FOUR_OF(a, i) (a)[i], (a)[i + 1], (a)[i + 2], (a)[i + 3]
#define TW_EIGHT_OF(a, i) TW_FOUR_OF(a, i), TW_FOUR_OF(a, i + 4)
TW_LINE(double, TW_FOUR_OF)
TW_LINE(int64_t, TW_FOUR_OF)
TW_LINE(float, TW_EIGHT_OF)
TW_LINE(int32_t, TW_EIGHT_OF)
#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#define TW_YIELD() ((void)sched_yield())
#else
#define TW_YIELD() ((void)0)
#endif
/* What this thread reads next, so many elements further on. */
#if defined(__GNUC__)
#define TW_NEXT(at, ahead) __builtin_prefetch((const void *)((uintptr_t)(at) + (uint64_t)(ahead) * sizeof *(at)), 0, 2)
#else
#define TW_NEXT(at, ahead) ((void)0)
#endif
/* Shares that are taken in turn: waits until all before this one are done with what they pass on. Whoever waits long lets others run. */
TW_INLINE void tw_await(const int64_t *turn, int64_t share)
{
    for (int64_t waits = 0; __atomic_load_n(turn, __ATOMIC_ACQUIRE) != share; ++waits) {
        if (waits > 4096) TW_YIELD();
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}
TW_INLINE void tw_pass_on(int64_t *turn, int64_t share)
{
    __atomic_store_n(turn, share + 1, __ATOMIC_RELEASE);
}
