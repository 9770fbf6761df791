/* An interpreter of random programs, one per warp, which stand in the field: six numbers per instruction. */
#include "tw_emulator.h"

extern "C" __global__ void __launch_bounds__(96)
hand_step_u(TW_GLOBAL(float) u, long long, long long, long long, double, long long, long long)
{
    TW_SHARED(float, cells, 64, 0);
    TW_LINK(link, 3, 256);
    const int lane = tw_lane();
    auto program = u + tw_warp() * 400;
    float sum = 0.0f;
    if (threadIdx.x < 64)
        cells[threadIdx.x] = 0.0f;
    tw_link_clear(link);
    __syncthreads();
    for (int at = 0; (int)program[at] != 0; at += 6) {
        const int a = (int)program[at + 1], b = (int)program[at + 2], c = (int)program[at + 3];
        switch ((int)program[at]) {
        case 1: /* lanes a to b read or write one cell, or one each */
            if (lane >= a && lane <= b) {
                const int cell = c + ((int)program[at + 5] != 0 ? lane : 0);
                if ((int)program[at + 4] != 0)
                    cells[cell] = sum;
                else
                    sum += cells[cell];
            }
            break;
        case 2: /* the lanes below a meet, and the others */
            if (lane < a)
                __syncwarp((1u << a) - 1);
            else
                __syncwarp(~((1u << a) - 1));
            break;
        case 3:
            tw_link_post(link, a, b);
            break;
        case 4:
            tw_link_wait(link, a, b);
            break;
        case 5:
            __syncthreads();
            break;
        case 6:
            sum = __shfl_xor_sync(0xffffffffu, sum, a);
            break;
        case 7:
            tw_barrier(1 + a, 64);
            break;
        }
    }
}
