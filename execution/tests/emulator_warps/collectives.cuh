/* Neighbours by shuffles. What `fault` says is wrong, or nothing: one text is compiled once for all faults. */
#ifdef TW_EMULATOR
#include "tw_emulator.h"
#else
#define TW_GLOBAL(T) T *__restrict__
extern __shared__ __align__(16) unsigned char tw_shared_bytes[];
#define TW_SHARED(T, name, count, byte_offset) \
    T *const name = reinterpret_cast<T *>(tw_shared_bytes + (byte_offset))
#endif

extern "C" __global__ void __launch_bounds__(64)
hand_step_u(TW_GLOBAL(float) u, long long n0, long long level_stride, long long steps, double fault_number,
            long long step, long long b0_first)
{
    TW_SHARED(float, edge, 64, 0);
    const int fault = (int)fault_number, lane = tw_lane(), thread = tw_warp() * 32 + lane;
    const long long i = (b0_first + blockIdx.x) * 64 + thread;
    auto from = u + step % 2 * level_stride;
    auto to = u + (step + 1) % 2 * level_stride;
    (void)steps;
    const float here = i < n0 ? from[i] : 0.0f;
    float left = 0.0f, right = 0.0f;
    if (fault == 1) { // lanes of one mask at two sites
        if (lane < 16)
            left = __shfl_up_sync(0xffffffffu, here, 1);
        else
            left = __shfl_up_sync(0xffffffffu, here, 1);
    } else if (fault == 2) { // masks that differ
        left = __shfl_up_sync(lane < 16 ? 0xffffffffu : 0xfffffffeu, here, 1);
    } else if (fault == 3) { // a mask without its lane
        left = __shfl_up_sync(0xfffffffeu, here, 1);
    } else if (fault == 4) { // lanes 0 to 15 take no part, lane 16 reads lane 15
        if (lane >= 16)
            left = __shfl_up_sync(0xffff0000u, here, 1);
        __syncwarp();
        if (lane < 16)
            left = __shfl_up_sync(0x0000ffffu, here, 1);
    } else if (fault == 5) { // a lane that never comes
        if (lane != 31)
            left = __shfl_up_sync(0xffffffffu, here, 1);
    } else if (fault == 9) { // 24 lanes are no part of a warp
        left = __shfl_up_sync(0xffffffffu, here, 1, 24);
    } else if (fault == 11) { // no fault: halves of the warp on their own
        if (lane < 16)
            left = __shfl_up_sync(0x0000ffffu, here, 1);
        else
            left = __shfl_up_sync(0xffff0000u, here, 1, 16);
        if (lane == 16)
            left = i < n0 ? from[i - 1] : 0.0f;
    } else {
        left = __shfl_sync(0xffffffffu, here, lane - 1);
        const float same = __shfl_xor_sync(0xffffffffu, __shfl_xor_sync(0xffffffffu, here, 5), 5);
        if (!__all_sync(0xffffffffu, same == here) || __ballot_sync(0xffffffffu, lane == 3) != 8u
            || __any_sync(0xffffffffu, lane == 32))
            left = -1.0f;
        const long long wide = __shfl_sync(0xffffffffu, i, 0);
        if (wide != i - lane)
            left = -2.0f;
    }
    right = __shfl_down_sync(0xffffffffu, here, 1);
    /* Within a warp shared memory is ordered by __syncwarp alone: the mirror image of the warp and back. */
    edge[thread] = right;
    if (fault == 6) // a shuffle orders no memory
        left = __shfl_sync(0xffffffffu, left, lane);
    else if (fault == 7) // neither does a meeting of others
        __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    else
        __syncwarp();
    const float mirrored = edge[thread / 32 * 32 + 31 - lane];
    if (fault != 8) // the next write comes after all readings
        __syncwarp();
    edge[thread] = mirrored;
    __syncwarp();
    right = edge[thread / 32 * 32 + 31 - lane];
    if (i < 1 || i >= n0 - 1)
        return;
    if (lane == 0)
        left = from[i - 1];
    if (lane == 31)
        right = from[i + 1];
    to[i] = left + right;
}
