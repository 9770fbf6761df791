@DECLARED@
/* The version of each implementation, and where the slots of each version lie among all. */
static const int versions[] = {@VERSIONS@};
static const int counts[] = {@COUNTS@};
static const int places[][@MOST@] = {
    @PLACES@};

/* Runs an implementation on the slots of its version. */
static int in_slots_of(int version, int (*implementation)(tw_slot *, int, tw_report *), tw_slot *slots, int threads,
                       tw_report *report)
{
    tw_slot own[@MOST@];
    for (int i = 0; i < counts[version]; ++i) own[i] = slots[places[version][i]];
    const int wrong = implementation(own, threads, report);
    for (int i = 0; i < counts[version]; ++i) slots[places[version][i]] = own[i];
    return wrong;
}

