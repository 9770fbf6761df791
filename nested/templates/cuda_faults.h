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

