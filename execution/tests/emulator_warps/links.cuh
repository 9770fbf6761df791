/* A ring of two chunks between a warp that loads and one that computes: three chunks of 32 points per block. */
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
    TW_SHARED(float, ring, 2 * 34, 0);
    TW_LINK(full, 2, 272);
    TW_LINK(empty, 2, 280);
    const int fault = (int)fault_number, lane = tw_lane();
    const long long first = (b0_first + blockIdx.x) * 192;
    auto from = u + step % 2 * level_stride;
    auto to = u + (step + 1) % 2 * level_stride;
    (void)steps;
    if (fault != 1)
        tw_link_clear(full);
    tw_link_clear(empty);
    if (fault != 2)
        __syncthreads();
    if (tw_warp() == 0) {
        for (int chunk = 0; chunk < 6; ++chunk) {
            /* a ring that is one slot short, with links for two */
            const int slot = chunk % 2, place = fault == 3 ? 0 : slot * 34;
            if (fault != 4)
                tw_link_wait(empty, slot, chunk / 2);
            if (fault == 5)
                tw_link_post(full, slot, chunk / 2 + 1);
            for (int cell = lane; cell < 34; cell += 32) {
                const long long i = first + chunk * 32 + cell - 1;
                ring[place + cell] = i >= 0 && i < n0 ? from[i] : 0.0f;
            }
            if (fault == 12) {
                TW_SHARED(float, overlapping, 72, 0);
                overlapping[69] = 0.0f;
            }
            if (fault == 6 && chunk == 4)
                break;
            if (fault == 7)
                tw_link_post(full, slot, 1);
            else if (fault != 5)
                tw_link_post(full, slot, chunk / 2 + 1);
        }
    } else {
        for (int chunk = 0; chunk < 6; ++chunk) {
            const int slot = chunk % 2, place = fault == 3 ? 0 : slot * 34;
            if (fault == 8 ? lane < 16 : fault != 9)
                tw_link_wait(full, slot, chunk / 2 + (fault == 10 ? 0 : 1));
            const long long i = first + chunk * 32 + lane;
            const float sum = ring[place + lane] + ring[place + lane + 2];
            if (fault != 11)
                tw_link_post(empty, slot, chunk / 2 + 1);
            if (i >= 1 && i < n0 - 1)
                to[i] = sum;
        }
    }
    if (fault == 13 && tw_warp() == 0)
        tw_link_wait(full, 0, 4);
    if (fault == 14)
        tw_barrier(1, tw_warp() == 0 ? 32 : 64);
    else
        tw_barrier(1, 64);
    /* Another memory with the ring's bytes is ordered by the barrier. */
    ring[tw_warp() * 32 + lane] = 1.0f;
}
