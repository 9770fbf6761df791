//! The C++ file around the CUDA text: one function per kernel that unpacks its arguments.

use crate::device_program::DeviceProgram;
use crate::launches::PlannedLaunch;
use hhc_codegen::KernelPlan;
use polyhedral::program::{FieldRole, Program};
use std::fmt::Write as _;

/// The name under which the shim includes the CUDA text; a header's name, for it is not compiled alone.
pub(super) const DEVICE_FILE: &str = "kernels.cuh";

/// The name under which the shim and `tw_runtime.cpp` include what [`settings`] says.
pub(super) const SETTINGS_FILE: &str = "tw_settings.h";

/// What a text asks of the emulator's header by defining it.
const WISHES: [&str; 2] = ["TW_WARPS", "TW_POISON_TRAVELS"];

/// The emulator's header with what it checks for this text: the same for many texts, so that it is compiled before them.
pub(super) fn settings(source: &str) -> String {
    let mut text = "#define TW_EMULATOR 1\n#define TW_DEVICE_ONLY 1\n".to_owned();
    for wish in WISHES {
        let defines = |line: &str| {
            let mut words = line.split_whitespace();
            words.next() == Some("#define") && words.next() == Some(wish)
        };
        if source.lines().any(defines) {
            let _ = writeln!(text, "#define {wish} 1");
        }
    }
    text.push_str("#include \"tw_emulator.h\"\n");
    text
}

/// The text of the shim.
pub(super) fn text(plan: &KernelPlan, device: &DeviceProgram) -> String {
    let block_loops = plan.kernels.iter().map(|kernel| kernel.blocks.len());
    let mut text = format!(
        "/* Calls the kernels of `{}` from the host. */\n#include \"{SETTINGS_FILE}\"\n#include \"{DEVICE_FILE}\"\n\n",
        plan.program.name
    );
    for (number, (kernel, loops)) in device.kernels.iter().zip(block_loops).enumerate() {
        let ways = if kernel.takes_ways { device.ways.len() } else { 0 };
        let arguments = arguments(&plan.program, plan.has_spare_slots(), loops, ways).join(",\n        ");
        let _ = write!(
            text,
            "static void tw_kernel_{number}(const tw_emulator::Launch &launch) {{\n    (void)launch;\n    \
             {}(\n        {arguments});\n}}\n\n",
            kernel.symbol
        );
    }
    text.push_str(
        "#define TW_HIDDEN extern \"C\" __attribute__((visibility(\"hidden\")))\n\n\
         TW_HIDDEN void (*const tw_kernels[])(const tw_emulator::Launch &);\n\
         TW_HIDDEN const std::size_t tw_kernel_count;\n\
         void (*const tw_kernels[])(const tw_emulator::Launch &) = {",
    );
    for number in 0..device.kernels.len() {
        let _ = write!(text, "{}tw_kernel_{number}", if number > 0 { ", " } else { "" });
    }
    let _ = write!(text, "}};\nconst std::size_t tw_kernel_count = {};\n", device.kernels.len());
    text
}

/// The arguments of a kernel, in the order of `docs/cuda-contract.md`.
fn arguments(program: &Program, spare: bool, block_loops: usize, ways: usize) -> Vec<String> {
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
    let (before, arrays) = (program.fields.len() + program.series.len(), program.fields.iter());
    let changing = arrays.filter(|field| spare && field.role != FieldRole::Coefficient);
    arguments.extend(
        changing
            .zip(before..)
            .map(|(field, number)| format!("tw_emulator::field<{}>({number})", field.element.c_name())),
    );
    let integer = |number: usize| format!("static_cast<long long>(launch.integers[{number}])");
    let before = PlannedLaunch::integers_before_parameters(program.dimension());
    arguments.extend((0..before).map(integer));
    arguments.extend((0..program.parameters.len()).map(|number| format!("launch.parameters[{number}]")));
    // The host variable, and the lowest block coordinates.
    let after = before + 1 + block_loops;
    arguments.extend((before..after).map(integer));
    if ways > 0 {
        let ways: Vec<String> = (after..after + ways).map(integer).collect();
        arguments.push(format!("tw_distances{{{{{}}}}}", ways.join(", ")));
    }
    arguments
}
