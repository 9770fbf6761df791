// What nested_peers.py compares with: copies and sums by plain loops, and the standard library's parallel algorithms (over oneTBB).
#include <cstdint>
#include <omp.h>

#if defined(__AVX__)
#include <immintrin.h>
#endif
#if defined(TW_TBB)
#include <execution>
#include <numeric>
#include <tbb/global_control.h>
#endif

extern "C" {

#if defined(TW_TBB)
static tbb::global_control *control;
void peers_threads(int count)
{
    control = new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
}
void peers_scan(const double *s, double *y, int64_t n)
{
    std::exclusive_scan(std::execution::par_unseq, s, s + n, y, 0.0);
}
double peers_reduce(const double *s, int64_t n)
{
    return std::reduce(std::execution::par_unseq, s, s + n, 0.0);
}
#endif

// A copy with stores past the caches.
void peers_copy_past(const double *s, double *y, int64_t n, int threads)
{
#pragma omp parallel num_threads(threads)
    {
        const int64_t share = n / omp_get_num_threads() / 8 * 8, first = share * omp_get_thread_num();
        const int64_t end = omp_get_thread_num() + 1 == omp_get_num_threads() ? n : first + share;
        int64_t i = first;
#if defined(__AVX__)
        for (; i + 4 <= end; i += 4) _mm256_stream_pd(y + i, _mm256_loadu_pd(s + i));
        _mm_sfence();
#endif
        for (; i < end; ++i) y[i] = s[i];
    }
}

// A plain loop; the empty statement keeps it from becoming a call of memcpy.
void peers_copy(const double *s, double *y, int64_t n, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; ++i) {
        y[i] = s[i];
        __asm__ volatile("");
    }
}

// Reads all and adds it up in 16 lanes.
double peers_read(const double *s, int64_t n, int threads)
{
    double sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        const int64_t share = n / omp_get_num_threads() / 16 * 16, first = share * omp_get_thread_num();
        const int64_t end = omp_get_thread_num() + 1 == omp_get_num_threads() ? n : first + share;
        double lanes[16] = { 0 };
        int64_t i = first;
        for (; i + 16 <= end; i += 16) {
            for (int l = 0; l < 16; ++l) lanes[l] += s[i + l];
        }
        for (; i < end; ++i) sum += s[i];
        for (int l = 0; l < 16; ++l) sum += lanes[l];
    }
    return sum;
}
}
