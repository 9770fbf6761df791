/* warp.cuh: warps that work on their own, what they hand over, vector accesses, and copies in
 * the background.
 *
 * Stands before everything else in a text that uses it. TW_WARPS tells the emulator, which has
 * definitions of its own. */
#define TW_WARPS 1
#ifndef TW_EMULATOR

/* Blocks for whose registers there shall be room: `most`, or below sm_80 as many as leave room for
 * what is copied, too. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define TW_BLOCKS(most, without_copies) most
#else
#define TW_BLOCKS(most, without_copies) without_copies
#endif

/* The thread's lane, and its warp in the block. */
[[maybe_unused]] static __device__ __forceinline__ int tw_thread_of_block()
{
    return (int)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x);
}
[[maybe_unused]] static __device__ __forceinline__
int tw_lane() { return tw_thread_of_block() % 32; }
[[maybe_unused]] static __device__ __forceinline__
int tw_warp() { return tw_thread_of_block() / 32; }

/* The warp, in a way that tells the compiler that it is the same for all lanes: then it branches
 * without asking which of them do. */
[[maybe_unused]] static __device__ __forceinline__
int tw_warp_of_team() { return __shfl_sync(0xffffffffu, tw_warp(), 0); }

/* The value of the lane `delta` below or above; where there is none any value, which nothing
 * may depend on. */
template <class T> static __device__ __forceinline__ T tw_shift_up(T value, unsigned int delta)
{
    return __shfl_up_sync(0xffffffffu, value, delta);
}
template <class T> static __device__ __forceinline__ T tw_shift_down(T value, unsigned int delta)
{
    return __shfl_down_sync(0xffffffffu, value, delta);
}

/* The value, as the compiler can have it only from a register: so that it is not found anew where
 * it is used. */
[[maybe_unused]] static __device__ __forceinline__ float tw_kept(float value)
{
    asm volatile("" : "+f"(value));
    return value;
}
[[maybe_unused]] static __device__ __forceinline__ double tw_kept(double value)
{
    asm volatile("" : "+d"(value));
    return value;
}
[[maybe_unused]] static __device__ __forceinline__ long long tw_kept(long long value)
{
    asm volatile("" : "+l"(value));
    return value;
}

/* Any value, which nothing may depend on. */
template <class T> static __device__ __forceinline__ T tw_junk() { return T(0); }

/* Bits that are the same for all lanes of a warp, kept in a register: the compiler does not look
 * where they come from. */
[[maybe_unused]] static __device__ __forceinline__
int tw_word(int bits) { return __shfl_sync(0xffffffffu, bits, 0); }

/* The least and the greatest of two, also of junk. */
template <class T> static __device__ __forceinline__ T tw_least(T a, T b) { return a < b ? a : b; }
template <class T> static __device__ __forceinline__
T tw_greatest(T a, T b) { return a > b ? a : b; }

/* Counters in shared memory by which warps of a block hand over. A post makes what all lanes of
 * the warp did before visible to those who wait for its value: __syncwarp orders the lanes
 * before lane 0, whose fence and store release it; each waiting lane loads and fences, which
 * acquires it, and __syncwarp brings the lanes together. */
struct tw_link {
    volatile int *counters;
    int count;
};
#define TW_LINK(name, count, byte_offset) \
    const tw_link name = { \
        reinterpret_cast<volatile int *>(tw_shared_bytes + (byte_offset)), (count)}
[[maybe_unused]] static __device__ __forceinline__ void tw_link_clear(const tw_link &link)
{
    const int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
    for (int k = tw_thread_of_block(); k < link.count; k += threads) link.counters[k] = 0;
}
[[maybe_unused]] static __device__ __forceinline__
void tw_link_post(const tw_link &link, long long index, int value)
{
    __syncwarp();
    if (tw_lane() == 0) {
        __threadfence_block();
        link.counters[index] = value;
    }
}
[[maybe_unused]] static __device__ __forceinline__
void tw_link_wait(const tw_link &link, long long index, int value)
{
    while (link.counters[index] < value) {
    }
    __threadfence_block();
    __syncwarp();
}

/* A barrier of `threads` threads, whole warps; numbers 1 to 15. */
[[maybe_unused]] static __device__ __forceinline__ void tw_barrier(int number, int threads)
{
    asm volatile("bar.sync %0, %1;" : : "r"(number), "r"(threads) : "memory");
}

/* Elements that are loaded and stored at once. */
template <class T, int N> struct alignas(N * sizeof(T)) tw_vector {
    T x[N];
};
template <class T> static __device__ __forceinline__
tw_vector<T, 2> tw_load2(const T *p, long long i)
{
    return *reinterpret_cast<const tw_vector<T, 2> *>(p + i);
}
template <class T> static __device__ __forceinline__
tw_vector<T, 4> tw_load4(const T *p, long long i)
{
    static_assert(sizeof(T) == 4, "at most 16 bytes are one access");
    return *reinterpret_cast<const tw_vector<T, 4> *>(p + i);
}
template <class T> static __device__ __forceinline__
void tw_store2(T *p, long long i, const tw_vector<T, 2> &value)
{
    *reinterpret_cast<tw_vector<T, 2> *>(p + i) = value;
}
template <class T> static __device__ __forceinline__
void tw_store4(T *p, long long i, const tw_vector<T, 4> &value)
{
    static_assert(sizeof(T) == 4, "at most 16 bytes are one access");
    *reinterpret_cast<tw_vector<T, 4> *>(p + i) = value;
}

/* Whether an array begins where accesses of so many elements do. */
template <int count, class T> static __device__ __forceinline__ bool tw_is_aligned(const T *p)
{
    return (unsigned long long)p % (count * sizeof(T)) == 0;
}

/* Copies `count` elements, 4, 8 or 16 bytes, from global to shared memory; they are there after
 * the thread's wait for the group in which it committed them. Below sm_80 they are there at
 * once. */
template <int count = 1, class T>
[[maybe_unused]] static __device__ __forceinline__
void tw_copy_async(T *to, long long i, const T *from, long long j)
{
    static_assert(count * sizeof(T) == 4 || count * sizeof(T) == 8 || count * sizeof(T) == 16,
                  "a copy has 4, 8 or 16 bytes");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned int shared = (unsigned int)__cvta_generic_to_shared(to + i);
    if (count * sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     : : "r"(shared), "l"(from + j) : "memory");
    else if (count * sizeof(T) == 8)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                     : : "r"(shared), "l"(from + j) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                     : : "r"(shared), "l"(from + j) : "memory");
#else
#pragma unroll
    for (int k = 0; k < count; ++k) to[i + k] = from[j + k];
#endif
}
/* The same in two halves, the second one at the end of a position: below sm_80 a register has the
 * elements meanwhile, so that nobody waits for them. */
template <int count, class T>
[[maybe_unused]] static __device__ __forceinline__
void tw_copy_begin(tw_vector<T, count> &ahead, T *to, long long i, const T *from, long long j)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    tw_copy_async<count>(to, i, from, j);
#else
    ahead = *reinterpret_cast<const tw_vector<T, count> *>(from + j);
#endif
}
template <int count, class T>
[[maybe_unused]] static __device__ __forceinline__
void tw_copy_end(const tw_vector<T, count> &ahead, T *to, long long i)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
    *reinterpret_cast<tw_vector<T, count> *>(to + i) = ahead;
#endif
}
/* The first half where elements are asked for before the copy stands: below sm_80 by the first of
 * these, from sm_80 on by the second one. */
template <int count, class T>
[[maybe_unused]] static __device__ __forceinline__
void tw_copy_ask(tw_vector<T, count> &ahead, const T *from, long long j)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
    ahead = *reinterpret_cast<const tw_vector<T, count> *>(from + j);
#endif
}
template <int count, class T>
[[maybe_unused]] static __device__ __forceinline__
void tw_copy_background(T *to, long long i, const T *from, long long j)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    tw_copy_async<count>(to, i, from, j);
#endif
}
[[maybe_unused]] static __device__ __forceinline__ void tw_copy_commit()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
/* Waits until at most N of the thread's newest groups are under way. */
template <int N> static __device__ __forceinline__ void tw_copy_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
#endif
}

#endif
