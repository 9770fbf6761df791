#if defined(TW_EMULATOR)
static const tw_machine *const tw_used = &tw_emulator::MACHINE;
#elif defined(TW_HOST_ONLY)
static const tw_machine *tw_used = NULL;

/* The device, which the caller knows. */
extern "C" void @NAME@_use(const tw_machine *machine)
{
    tw_used = machine;
}
#else
static const tw_machine *const tw_used = &TW_CUDA_MACHINE;
#endif

static tw_session tw_sessions_none = {NULL, {}};

/* Copies what is given to the device; NULL where the report says why not. */
extern "C" void *@NAME@_open(const tw_slot *slots, tw_report *report)
{
    tw_session *session = (tw_session *)malloc(sizeof(tw_session));
    if (session == NULL) {
        tw_fault(report, -1, 0, 0);
        return NULL;
    }
    *session = tw_sessions_none;
    if (tw_open(session, &tw_this, tw_used, slots, report)) {
        tw_close(session);
        free(session);
        return NULL;
    }
#if defined(TW_EMULATOR)
    tw_emulator::used = session->tw.context;
    tw_emulator::unwritten_results = 0;
#endif
    return session;
}

/* Runs the program on the device. Returns 0, or 1 where the report says what was found wrong. */
extern "C" int @NAME@_run(void *session, tw_report *report)
{
    ((tw_session *)session)->tw.report = report;
    return tw_run((tw_session *)session);
}

/* Copies results to the slots of the host. Returns 0, or 1 where the report says why not. */
extern "C" int @NAME@_results(void *session, tw_slot *slots, tw_report *report)
{
    ((tw_session *)session)->tw.report = report;
    return tw_download((tw_session *)session, slots);
}

extern "C" void @NAME@_close(void *session)
{
#if defined(TW_EMULATOR)
    tw_emulator::describe(*((tw_session *)session)->tw.context);
#endif
    tw_close((tw_session *)session);
    free(session);
}

/* All of these. Returns 0, or 1 where the report says what was found wrong. */
extern "C" int @NAME@(tw_slot *slots, int threads, tw_report *report)
{
    (void)threads;
    report->check = 0;
    void *session = @NAME@_open(slots, report);
    if (session == NULL) return 1;
    const int wrong = @NAME@_run(session, report) || @NAME@_results(session, slots, report);
    @NAME@_close(session);
    return wrong;
}

/* Frees all arrays of the host but those that were given. */
extern "C" void @NAME@_free(tw_slot *slots)
{
    for (int i = @GIVEN@; i < @SLOTS@; ++i) {
        free(slots[i].data);
        slots[i].data = NULL;
        slots[i].length = slots[i].capacity = 0;
    }
}
