
/* The version that a call with these threads takes, one operation after the other. */
int @NAME@_sequential(tw_slot *slots, int threads, tw_report *report)
{
    static int (*const sequential[])(tw_slot *, int, tw_report *) = {@SEQUENTIAL@};
    const int version = versions[@NAME@_variant(slots, threads)];
    return in_slots_of(version, sequential[version], slots, 1, report);
}

void @NAME@_sequential_free(tw_slot *slots)
{
    @NAME@_free(slots);
}
