/* tw_runtime.cpp: what runs kernels, the same for all of them: compiled once, and linked to each text's kernels.
 *
 * The functions are those that execution/src/emulator/foreign.rs calls. */
#include "tw_settings.h"

extern "C" {
/* The kernels, in the file that execution/src/emulator/shim.rs writes. */
extern __attribute__((visibility("hidden"))) void (*const tw_kernels[])(const tw_emulator::Launch &);
extern __attribute__((visibility("hidden"))) const std::size_t tw_kernel_count;
}

#define TW_EXPORT extern "C" __attribute__((visibility("default")))

TW_EXPORT void *tw_emulator_create(const tw_emulator::Field *fields, std::int32_t count, std::int64_t capacity) {
    return tw_emulator::create(fields, count, capacity);
}

TW_EXPORT int tw_emulator_run(void *context, const tw_emulator::Launch *launch) {
    const std::size_t kernel = static_cast<std::size_t>(launch->kernel);
    if (kernel >= tw_kernel_count)
        return 2;
    return tw_emulator::launch(*static_cast<tw_emulator::Context *>(context), *launch, tw_kernels[kernel]);
}

TW_EXPORT const tw_emulator::Violation *tw_emulator_results(const void *context, tw_emulator::Counts *counts) {
    const tw_emulator::Context *results = static_cast<const tw_emulator::Context *>(context);
    *counts = results->counts;
    return results->violations.data();
}

TW_EXPORT void tw_emulator_destroy(void *context) {
    delete static_cast<tw_emulator::Context *>(context);
}
