// The kernels whose listings are counted by hand in counted.rs.

// A loop, shared memory two words apart, barriers.
extern "C" __global__ void swap(float *u, long long n)
{
    __shared__ float line[128];
#pragma unroll 1
    for (long long i = 0; i < n; ++i) {
        line[2 * threadIdx.x] = u[64 * i + threadIdx.x];
        __syncthreads();
        u[64 * i + threadIdx.x] = line[126 - 2 * threadIdx.x] * 0.5f;
        __syncthreads();
    }
}

__device__ __noinline__ float called(float x, float y)
{
    return x * y + x;
}

// Lanes that go round a loop so often as their number says, with a call in it, and others that go another way.
extern "C" __global__ void ways(float *u)
{
    const int lane = threadIdx.x;
    float value = u[lane];
    if (lane < 20) {
#pragma unroll 1
        for (int round = 0; round <= (lane & 3); ++round)
            value = called(value, u[32 + round]);
    } else {
        value = value * value;
        u[64 + lane] = value;
    }
    u[lane] = value;
}

// Divisions by numbers that only the host knows: of 32 bits and of 64.
extern "C" __global__ void quotients(float *u, long long n)
{
    const unsigned lane = threadIdx.x;
    u[8 * (977 * lane / (unsigned)n)] = 1.0f;
    u[8 * (977 * (long long)lane * n / (3 * n + 1)) + (1 << 20)] = 1.0f;
}
