/* Whether a loop becomes vectors is the compiler's to decide. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

typedef struct {
    tw_slot *slots;
    tw_report *report;
    int64_t *memo;
    int threads;
} tw_context;

#if defined(__GNUC__)
#define TW_COLD __attribute__((cold, noinline, unused))
#define TW_INLINE static inline __attribute__((unused))
#else
#define TW_COLD
#define TW_INLINE static inline
#endif

static TW_COLD void tw_fault(tw_report *report, int64_t check, int64_t a, int64_t b)
{
    int64_t none = 0;
    if (__atomic_compare_exchange_n(&report->check, &none, check, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        report->numbers[0] = a;
        report->numbers[1] = b;
    }
}

/* Room for elements of this size; what was there is lost. Blocks that are large enough are used again. */
static TW_COLD void *tw_room(tw_context *tw, int slot, int64_t length, int64_t bytes)
{
    tw_slot *own = &tw->slots[slot];
    int64_t need = length > 0 ? length : 0;
    if (need > (INT64_MAX - 4096) / bytes) {
        tw_fault(tw->report, -1, length, bytes);
        need = 0;
    }
    need *= bytes;
    if (own->data == NULL || own->capacity < need) {
        free(own->data);
        own->data = NULL;
        own->capacity = 0;
        /* Arrays that others have made mostly begin with a page. Where a line is stored whose place in a page is that of one that is read
         * soon, processors wait: large ones begin in the middle. */
        const int64_t line = need < 1 << 20 ? 64 : 2048;
        int64_t room = (need / line + 1) * line;
        own->data = aligned_alloc((size_t)line, (size_t)room);
        if (own->data == NULL) {
            tw_fault(tw->report, -1, length, bytes);
            own->length = 0;
            return NULL;
        }
        own->capacity = room;
    }
    own->length = length > 0 ? length : 0;
    return own->data;
}

