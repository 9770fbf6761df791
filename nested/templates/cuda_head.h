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
#define __ffs __builtin_ffs
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

