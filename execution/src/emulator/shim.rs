//! The C++ file around the CUDA text: one function per kernel that unpacks its arguments, and the four C
//! functions that [`super::foreign`] calls.

use crate::device_program::DeviceProgram;
use crate::launches::PlannedLaunch;
use polyhedral::program::{FieldRole, Program};
use std::fmt::Write as _;

/// The name under which the shim includes the CUDA text; a header's name, for it is not compiled alone.
pub(super) const DEVICE_FILE: &str = "kernels.cuh";

const FUNCTIONS: &str = r#"
#define TW_EXPORT extern "C" __attribute__((visibility("default")))

TW_EXPORT void *tw_emulator_create(const tw_emulator::Field *fields, std::int32_t count, std::int64_t capacity) {
    return tw_emulator::create(fields, count, capacity);
}

TW_EXPORT int tw_emulator_run(void *context, const tw_emulator::Launch *launch) {
    const std::size_t kernel = static_cast<std::size_t>(launch->kernel);
    if (kernel >= sizeof tw_kernels / sizeof *tw_kernels)
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
"#;

/// The text of the shim. The CUDA text comes first: what it defines before it includes the emulator's header decides what
/// the header checks. `block_loops` is the number of block loops of each kernel.
pub(super) fn text(program: &Program, device: &DeviceProgram, block_loops: &[usize]) -> String {
    let mut text = format!(
        "/* Calls the kernels of `{}` from the host. */\n#define TW_EMULATOR 1\n#define TW_DEVICE_ONLY 1\n\
         #include \"{DEVICE_FILE}\"\n#include \"tw_emulator.h\"\n\n",
        program.name
    );
    for (number, (kernel, &loops)) in device.kernels.iter().zip(block_loops).enumerate() {
        let arguments = arguments(program, loops).join(",\n        ");
        let _ = write!(
            text,
            "static void tw_kernel_{number}(const tw_emulator::Launch &launch) {{\n    (void)launch;\n    \
             {}(\n        {arguments});\n}}\n\n",
            kernel.symbol
        );
    }
    text.push_str("static void (*const tw_kernels[])(const tw_emulator::Launch &) = {");
    for number in 0..device.kernels.len() {
        let _ = write!(text, "{}tw_kernel_{number}", if number > 0 { ", " } else { "" });
    }
    text.push_str("};\n");
    text.push_str(FUNCTIONS);
    text
}

/// The arguments of a kernel, in the order of `docs/cuda-contract.md`.
fn arguments(program: &Program, block_loops: usize) -> Vec<String> {
    let mut arguments: Vec<String> = program
        .fields
        .iter()
        .enumerate()
        .map(|(number, field)| {
            let constant = if field.role == FieldRole::Coefficient { "const " } else { "" };
            format!("tw_emulator::field<{constant}{}>({number})", field.element.c_name())
        })
        .collect();
    arguments.extend(program.series.iter().enumerate().map(|(number, series)| {
        format!("tw_emulator::field<const {}>({})", series.element.c_name(), program.fields.len() + number)
    }));
    let integer = |number: usize| format!("static_cast<long long>(launch.integers[{number}])");
    let before = PlannedLaunch::integers_before_parameters(program.dimension());
    arguments.extend((0..before).map(integer));
    arguments.extend((0..program.parameters.len()).map(|number| format!("launch.parameters[{number}]")));
    // The host variable, and the lowest block coordinates.
    arguments.extend((before..before + 1 + block_loops).map(integer));
    arguments
}
