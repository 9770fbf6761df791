/* One warp for 128 points, brought by copies in the background, loaded and stored four at a time. */
#ifdef TW_EMULATOR
#include "tw_emulator.h"
#else
#define TW_GLOBAL(T) T *__restrict__
extern __shared__ __align__(16) unsigned char tw_shared_bytes[];
#define TW_SHARED(T, name, count, byte_offset) \
    T *const name = reinterpret_cast<T *>(tw_shared_bytes + (byte_offset))
#endif

extern "C" __global__ void __launch_bounds__(32)
hand_step_u(TW_GLOBAL(float) u, long long n0, long long level_stride, long long steps, double fault_number,
            long long step, long long b0_first)
{
    TW_SHARED(float, tile, 136, 16);
    const int fault = (int)fault_number, lane = tw_lane(), cell = 4 + 4 * lane;
    const long long first = (b0_first + blockIdx.x) * 128, i = first + 4 * lane;
    auto from = u + step % 2 * level_stride;
    auto to = u + (step + 1) % 2 * level_stride;
    (void)steps;
    if (lane == 0)
        tile[3] = 0.0f;
    if (lane == 31)
        tile[132] = 0.0f;
    if (fault == 1 && lane == 5)
        tile[4] = 0.0f; /* lane 0 copies there, and nothing orders the two */
    if (fault == 2)
        tw_copy_async<4>(tile, cell + 1, from, i);
    else if (i + 3 < n0)
        tw_copy_async<4>(tile, cell, from, i);
    else
        for (int k = 0; k < 4; ++k)
            tile[cell + k] = i + k < n0 ? from[i + k] : 0.0f;
    tw_copy_commit();
    if (lane == 0 && first > 0)
        tw_copy_async(tile, 3, from, first - 1);
    if (lane == 31 && first + 128 < n0)
        tw_copy_async(tile, 132, from, first + 128);
    if (fault != 3)
        tw_copy_commit();
    if (fault == 4)
        tile[cell] = 0.0f;
    if (fault >= 12 && fault <= 13) { /* the source changes while it is copied, however ordered */
        __syncwarp();
        if (i + 3 < n0 && i > 0 && lane == (fault == 12 ? 7 : 8))
            from[first + 32] = 0.0f;
        __syncwarp();
    }
    if (fault == 5)
        tw_copy_wait<1>();
    else if (fault != 6)
        tw_copy_wait<0>();
    if (fault != 7)
        __syncwarp();
    if (fault == 8) { /* a second copy to where others still read */
        tw_copy_async(tile, cell, from, 4 * lane);
        tw_copy_commit();
        tw_copy_wait<0>();
    }
    const tw_vector<float, 4> here = tw_load4(tile, fault == 9 ? cell - 1 : cell);
    float left = tile[cell - 1], right = tile[cell + 4];
    tw_vector<float, 4> sum;
    for (int k = 0; k < 4; ++k)
        sum.x[k] = (k > 0 ? here.x[k - 1] : left) + (k < 3 ? here.x[k + 1] : right);
    if (i >= 1 && i + 4 < n0) {
        if (fault == 10)
            tw_store4(to, i + 1, sum);
        else if (fault == 11) {
            tw_vector<float, 2> half;
            half.x[0] = half.x[1] = 0.0f;
            tw_store2(to, i + 1, half);
        } else
            tw_store4(to, i, sum);
    } else
        for (int k = 0; k < 4; ++k)
            if (i + k >= 1 && i + k < n0 - 1)
                to[i + k] = sum.x[k];
}
