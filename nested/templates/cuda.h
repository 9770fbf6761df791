/* What the kernels of a nested data-parallel program share, and what starts them.
 *
 * The same text is compiled for a device (TW_DEVICE_ONLY), for the host beside it (TW_HOST_ONLY), for both by nvcc, and for
 * the processor alone, with every access checked (TW_EMULATOR). */
#ifndef TW_NESTED_CUDA_H
#define TW_NESTED_CUDA_H

#if defined(TW_EMULATOR)
#define TW_WARPS 1
#include "tw_emulator.h"
#define __popc __builtin_popcount
#endif

#if defined(TW_DEVICE_ONLY)
/* NVRTC has no headers. */
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define INT64_MAX 9223372036854775807ll
#define INT64_MIN (-9223372036854775807ll - 1)
#define INFINITY __int_as_float(0x7f800000)
#else
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#endif

#if defined(TW_HOST_ONLY)
#define __host__
#define __device__
#endif

#define TW_INLINE [[maybe_unused]] static inline __host__ __device__
#if defined(TW_EMULATOR)
#define TW_COLD [[maybe_unused]] static __attribute__((noinline, cold))
#define TW_DEVICE [[maybe_unused]] static inline
#elif defined(TW_HOST_ONLY)
#define TW_COLD [[maybe_unused]] static
#define TW_GLOBAL(T) T *
#else
#define TW_COLD [[maybe_unused]] static __host__ __device__ __noinline__
#define TW_DEVICE [[maybe_unused]] static __device__ __forceinline__
#define TW_GLOBAL(T) T *__restrict__
/* The block's shared memory, and a part of it as an array. */
extern __shared__ __align__(16) unsigned char tw_shared_bytes[];
#define TW_SHARED(T, name, count, byte_offset) T *const name = reinterpret_cast<T *>(tw_shared_bytes + (byte_offset))
#endif

/* An array: what is given, or what is computed. `length` counts elements; each has one number, or those of a vector. */
typedef struct {
    void *data;
    int64_t length;
    int64_t capacity;
} tw_slot;

/* The first thing that was found wrong: the number of a check (0: nothing, -1: no memory, -2: the device failed), and
 * numbers that show it. */
typedef struct {
    int64_t check;
    int64_t numbers[2];
} tw_report;

/* What every kernel is given: where to report, and whether to do nothing since something is known to be wrong, which
 * changes between kernels only. */
struct tw_device {
    tw_report *report;
    const int64_t *stop;
};

/* Notes what is wrong, unless something is noted already. A thread of a kernel has notes of its own, in registers: a check is no
 * access of memory, over which nothing could be loaded ahead. */
TW_INLINE void tw_fault(tw_report *report, int64_t check, int64_t a, int64_t b)
{
    if (report->check != 0) return;
    report->check = check;
    report->numbers[0] = a;
    report->numbers[1] = b;
}

/* What a thread noted, for all. */
TW_COLD void tw_tell(tw_report *report, int64_t check, int64_t a, int64_t b)
{
#if defined(__CUDA_ARCH__)
    if (atomicCAS((unsigned long long *)&report->check, 0ull, (unsigned long long)check) != 0) return;
#else
    if (report->check != 0) return;
    report->check = check;
#endif
    report->numbers[0] = a;
    report->numbers[1] = b;
}

