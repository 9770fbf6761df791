/* Thirty points per warp: lanes 0 and 31, and those beyond the grid, compute junk. */
#define TW_POISON_TRAVELS 1
#ifdef TW_EMULATOR
#include "tw_emulator.h"
#else
#define TW_GLOBAL(T) T *__restrict__
extern __shared__ __align__(16) unsigned char tw_shared_bytes[];
#define TW_SHARED(T, name, count, byte_offset) \
    T *const name = reinterpret_cast<T *>(tw_shared_bytes + (byte_offset))
#define TW_MOVE(name, to, from) name[to] = name[from]
#endif

extern "C" __global__ void __launch_bounds__(32)
hand_step_u(TW_GLOBAL(float) u, long long n0, long long level_stride, long long steps, double fault_number,
            long long step, long long b0_first)
{
    TW_SHARED(float, scratch, 72, 0);
    const int fault = (int)fault_number, lane = tw_lane();
    const long long i = (b0_first + blockIdx.x) * 30 + lane - 1;
    const bool first = b0_first + blockIdx.x == 0;
    auto from = u + step % 2 * level_stride;
    auto to = u + (step + 1) % 2 * level_stride;
    (void)steps;
    float here = i >= 0 && i < n0 ? from[i] : tw_junk<float>();
    float sum = tw_shift_up(here, 1) + tw_shift_down(here, 1);
    const bool inside = i >= 1 && i < n0 - 1;
    /* Junk may go through shared memory, moves, vectors, extrema and functions. */
    scratch[32 + lane] = sum;
    __syncwarp();
    TW_MOVE(scratch, lane, 32 + lane);
    if (lane < 4)
        TW_MOVE(scratch, 64 + lane, 68 + lane); /* cells 68 to 71 have no value */
    __syncwarp();
    sum = lane < 32 ? scratch[lane] : from[0];
    const tw_vector<float, 4> four = tw_load4(scratch, lane / 4 * 4);
    sum = inside ? four.x[lane % 4] : sum;
    sum = tw_greatest(tw_least(sum, sum), sum) * 1.0f + sqrtf(fabsf(sum)) * 0.0f;
    const double wide = sum;
    sum = (float)(0.0 + wide);
    if (fault == 1 && inside && lane == 0) /* ghost zone one lane short */
        to[i] = sum;
    if (fault == 2)
        sum += 0.0f * scratch[70];
    if (fault == 3 && first && sum > 0.0f)
        sum += 0.0f;
    if (fault == 4 && first)
        sum += 0.0f * (float)((int)sum);
    if (fault == 5 && lane == 8)
        sum = (0.0f * (1.0f / (sum - sum)) + scratch[70]) + 1.0f; /* the user's NaN meets poison */
    if (fault == 6)
        sum = fminf(sum, scratch[70]);
    if (fault == 7) {
        float unset[2];
        unset[0] = sum;
        sum = unset[lane % 2];
    }
    if (fault == 8)
        sum += 0.0f * scratch[64 + lane % 4]; /* what was moved there had no value */
    if (fault == 9) { /* lane 31 takes no part in the shuffle */
        float other = 0.0f;
        if (lane < 31)
            other = __shfl_sync(0x7fffffffu, sum, lane + 1);
        sum += 0.0f * other;
    }
    if (fault == 10) { /* the same with an integer, which cannot be junk */
        int other = 0;
        if (lane < 31)
            other = __shfl_sync(0x7fffffffu, lane, lane + 1);
        sum += 0.0f * (float)other;
    }
    if (fault == 11) /* a NaN that is the user's */
        sum = sum * 0.0f / (sum - sum);
    if (fault == 12) {
        tw_vector<float, 2> two;
        two.x[0] = two.x[1] = sum;
        if (lane == 2 && first)
            two.x[1] = scratch[70];
        if (inside && lane == 2)
            tw_store2(to, i / 2 * 2, two);
    }
    if (inside && lane >= 1 && lane <= (fault == 13 ? 31 : 30))
        to[i] = sum;
}
