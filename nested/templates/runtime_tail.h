/* Offsets begin with 0, never decrease, and end with the length; returns the number of rows. Indices lie in the sequence. */
#define TW_INPUTS(T)                                                                                                   \
    TW_INLINE int64_t tw_offsets_##T(const T *offsets, int64_t count, int64_t length, tw_context *tw, int64_t check)  \
    {                                                                                                                  \
        if (count < 1) {                                                                                               \
            tw_fault(tw->report, check, 0, 0);                                                                         \
            return 0;                                                                                                  \
        }                                                                                                              \
        if (!TW_CHECKS) return count - 1;                                                                              \
        int wrong = offsets[0] != 0 || offsets[count - 1] != length;                                                   \
        if (count > 65536) {                                                                                           \
            _Pragma("omp parallel for simd num_threads(tw->threads) reduction(| : wrong)")                             \
            for (int64_t i = 1; i < count; ++i) wrong |= offsets[i] < offsets[i - 1];                                  \
        } else {                                                                                                       \
            for (int64_t i = 1; i < count; ++i) wrong |= offsets[i] < offsets[i - 1];                                  \
        }                                                                                                              \
        if (!wrong) return count - 1;                                                                                  \
        for (int64_t i = 0; i < count; ++i) {                                                                          \
            int last = i + 1 == count;                                                                                 \
            if (offsets[i] < (i ? offsets[i - 1] : 0) || (!i && offsets[i]) || (last && offsets[i] != length)) {      \
                tw_fault(tw->report, check, i, offsets[i]);                                                            \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        return 0;                                                                                                      \
    }                                                                                                                  \
    TW_INLINE void tw_indices_##T(const T *indices, int64_t count, int64_t length, tw_context *tw, int64_t check)      \
    {                                                                                                                  \
        if (!TW_CHECKS || tw->memo[check] == length + 1) return;                                                       \
        T least = 0, most = -1;                                                                                        \
        _Pragma("omp parallel for simd num_threads(tw->threads) if (count > 65536) reduction(min : least) reduction(max : most)") \
        for (int64_t i = 0; i < count; ++i) {                                                                          \
            least = indices[i] < least ? indices[i] : least;                                                           \
            most = indices[i] > most ? indices[i] : most;                                                              \
        }                                                                                                              \
        if (least < 0 || most >= length) {                                                                             \
            tw_fault(tw->report, check, least < 0 ? least : most, length);                                             \
        } else {                                                                                                       \
            tw->memo[check] = length + 1;                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    /* Whether these indices lie in a sequence of a length, just before they are used. Negative ones are large. */      \
    TW_INLINE bool tw_inside_##T(const T *indices, int64_t first, int64_t end, int64_t length, tw_context *tw, int64_t check) \
    {                                                                                                                  \
        if (!TW_CHECKS || tw->memo[check] == length + 1) return true;                                                  \
        u##T most = 0;                                                                                                 \
        const u##T top = (u##T)1 << (8 * sizeof most - 1);                                                             \
        const u##T bound = (uint64_t)length < top ? (u##T)length : top;                                                \
        for (int64_t i = first; i < end; i += 64 / (int64_t)sizeof most) TW_AHEAD(indices + i);                        \
        for (int64_t i = first; i < end; ++i) most = (u##T)indices[i] > most ? (u##T)indices[i] : most;                \
        return first >= end || most < bound;                                                                           \
    }                                                                                                                  \
    /* The same, where rows are checked just before they are used: the ends now, or all where these are wrong. */         \
    TW_INLINE int64_t tw_ends_##T(const T *offsets, int64_t count, int64_t length, tw_context *tw, int64_t check)      \
    {                                                                                                                  \
        const int right = count > 0 && (!TW_CHECKS || (offsets[0] == 0 && offsets[count - 1] == length));              \
        if (right) return count - 1;                                                                                   \
        return tw_offsets_##T(offsets, count, length, tw, check);                                                      \
    }                                                                                                                  \
    /* Whether lengths cannot be foreseen: of eight rows of these more than two differ from the middle one. */         \
    TW_INLINE bool tw_mixed_##T(const T *offsets, int64_t first, int64_t count)                                        \
    {                                                                                                                  \
        const T *own = offsets + first, *middle = own + count / 2;                                                     \
        int64_t differ = 0;                                                                                            \
        for (int64_t i = 0; i < count; i += count / 8 + 1) {                                                           \
            differ += (u##T)own[i + 1] - (u##T)own[i] != (u##T)middle[1] - (u##T)middle[0];                            \
        }                                                                                                              \
        return differ > 2;                                                                                             \
    }                                                                                                                  \
    /* How many rows are a group: 256 at most, of 2048 elements at most where there are several, whole eights where there\
     * are more; 4096 where they are sums that are added up one by one, and long on the average; 0 if they are wrong. */\
    TW_INLINE int64_t tw_group_##T(                                                                                    \
        const T *offsets, int64_t first, int64_t end, int64_t rows, tw_lengths *lengths, bool sums)                    \
    {                                                                                                                  \
        const int64_t far = tw_min(end - first, 4096);                                                                 \
        const uint64_t all = (uint64_t)offsets[first + far] - (uint64_t)offsets[first];                                \
        if (TW_HALVES && sums && all > 8 * (uint64_t)far)  {                                                           \
            *lengths = (tw_lengths){ -1, -1, 0, tw_mixed_##T(offsets, first, far), all >= 16 * (uint64_t)far };        \
            return far;                                                                                                \
        }                                                                                                              \
        int64_t count = tw_min(end - first, 256);                                                                      \
        while (count > 1 && (uint64_t)offsets[first + count] - (uint64_t)offsets[first] > 2048) count /= 2;            \
        if (count > 8 && first + count < end) count -= (first + count) % 8;                                            \
        const u##T own = (u##T)offsets[first + 1] - (u##T)offsets[first];                                              \
        u##T wrong = offsets[first] < 0 || offsets[first + count] > offsets[rows], others = 0, bits = 0, filled = 0;   \
        const bool mixed = TW_HALVES && sums && tw_mixed_##T(offsets, first, count);                                   \
        if (mixed) {                                                                                                   \
            for (int64_t i = first; i < first + count; ++i) wrong |= offsets[i + 1] < offsets[i];                      \
            *lengths = (tw_lengths){ -1, 0, count, true, false };                                                      \
            return TW_CHECKS && wrong ? 0 : count;                                                                     \
        }                                                                                                              \
        for (int64_t i = first; i < first + count; ++i) {                                                              \
            const u##T length = (u##T)offsets[i + 1] - (u##T)offsets[i];                                               \
            wrong |= offsets[i + 1] < offsets[i];                                                                      \
            others |= length ^ own;                                                                                    \
            bits |= length;                                                                                            \
            filled += length != 0;                                                                                     \
        }                                                                                                              \
        *lengths = (tw_lengths){ others == 0 ? (int64_t)own : -1, (int64_t)bits, (int64_t)filled, false, false };      \
        return TW_CHECKS && wrong ? 0 : count;                                                                         \
    }                                                                                                                  \
    /* The first row of a share: rows and their elements are dealt out evenly (Merrill and Garland, merge path), in eights. */ \
    TW_INLINE int64_t tw_share_##T(const T *offsets, int64_t rows, int64_t share, int64_t shares)                      \
    {                                                                                                                  \
        if (share <= 0 || share >= shares) return share <= 0 ? 0 : rows;                                               \
        int64_t total = rows + (int64_t)offsets[rows];                                                                 \
        int64_t goal = total / shares * share + tw_min(total % shares, share);                                         \
        int64_t low = 0, high = rows;                                                                                  \
        while (low < high) {                                                                                           \
            int64_t middle = low + (high - low) / 2;                                                                   \
            if ((int64_t)((uint64_t)middle + (uint64_t)offsets[middle]) < goal) low = middle + 1;                      \
            else high = middle;                                                                                        \
        }                                                                                                              \
        return tw_min((low + 7) / 8 * 8, rows);                                                                        \
    }
TW_INPUTS(int32_t)
TW_INPUTS(int64_t)

/* Lets the threads of a team have teams of their own. */
TW_INLINE void tw_teams_in_teams(void)
{
#ifdef _OPENMP
    if (omp_get_max_active_levels() < 2) omp_set_max_active_levels(2);
#endif
}

/* The places of keys in ascending order, equal ones as they stand: sorted by eleven bits at a time. `other` is scratch. Each of a team
 * counts a part of the keys, and then puts it behind those of the parts before it. */
TW_INLINE void tw_order(const int64_t *keys, int64_t count, int64_t *order, int64_t *other, int threads)
{
    const int team = count <= 65536 || threads < 2 ? 1 : threads < 8 ? threads : 8;
    int64_t least = INT64_MAX, most = INT64_MIN, starts[8][2048];
    _Pragma("omp parallel for simd num_threads(team) if (team > 1) reduction(min : least) reduction(max : most)")
    for (int64_t i = 0; i < count; ++i) {
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
    }
    const uint64_t range = count > 0 ? (uint64_t)most - (uint64_t)least : 0;
    int passes = 0;
    while (11 * passes < 64 && range >> 11 * passes != 0) ++passes;
    if (passes == 0) {
        for (int64_t i = 0; i < count; ++i) order[i] = i;
        return;
    }
    /* The last pass ends in `order`. */
    const int64_t *from = NULL;
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = 11 * pass;
        int64_t *to = (passes - pass) % 2 == 1 ? order : other;
        _Pragma("omp parallel for num_threads(team) schedule(static, 1) if (team > 1)")
        for (int part = 0; part < team; ++part) {
            const int64_t first = count / team * part, end = part + 1 < team ? first + count / team : count;
            memset(starts[part], 0, sizeof starts[part]);
            for (int64_t i = first; i < end; ++i) {
                ++starts[part][((uint64_t)keys[from ? from[i] : i] - (uint64_t)least) >> shift & 2047];
            }
        }
        int64_t sum = 0;
        for (int i = 0; i < 2048; ++i) {
            for (int part = 0; part < team; ++part) {
                const int64_t own = starts[part][i];
                starts[part][i] = sum;
                sum += own;
            }
        }
        _Pragma("omp parallel for num_threads(team) schedule(static, 1) if (team > 1)")
        for (int part = 0; part < team; ++part) {
            const int64_t first = count / team * part, end = part + 1 < team ? first + count / team : count;
            for (int64_t i = first; i < end; ++i) {
                const int64_t own = from ? from[i] : i;
                to[starts[part][((uint64_t)keys[own] - (uint64_t)least) >> shift & 2047]++] = own;
            }
        }
        from = to;
    }
}

#endif
