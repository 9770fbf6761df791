//! Several tilings of one program in one C file: the functions of statements, which take the compiler nearly all of its
//! time, are the same for all of them, so that ten tilings compile in little more time than one.

use super::entry::Entry;
use super::{ProgramText, boundary, kernels, parts, render, storages};
use crate::PlanError;
use crate::backend::GeneratedFile;
use crate::backend::arguments::Arguments;
use crate::plan::{Kernel, KernelPlan};
use polyhedral::program::Program;
use std::sync::Arc;

/// Whether plans may stand in one file: of one program, with all values in its arrays.
pub fn can_be_variants(plans: &[KernelPlan]) -> bool {
    let plain = |plan: &KernelPlan| !plan.kernels.iter().any(Kernel::in_parts);
    plans.iter().all(|plan| plain(plan) && Arc::ptr_eq(&plan.program, &plans[0].program))
}

/// `NAME.c` and `NAME.h` of plans that [`can_be_variants`], and the symbol of each plan's `NAME_invoke`.
///
/// # Errors
/// As for [`super::generate`].
pub fn variants(plans: &[KernelPlan]) -> Result<(Vec<GeneratedFile>, Vec<String>), PlanError> {
    let Some(first) = plans.first() else { return Ok((Vec::new(), Vec::new())) };
    let names = storages::names(first);
    let program = &first.program;
    let mut text = ProgramText::new(plans, &names, parts::own_bytes(first)?, false);
    let mut symbols = vec![format!("{}_invoke", program.name)];
    let arguments = Arguments { program, names: &names };
    let copies: Vec<String> = boundary::functions(arguments).into_iter().map(|(copy, _)| copy).collect();
    for (number, plan) in plans.iter().enumerate().skip(1) {
        let ending = format!("_v{number}");
        let renamed = renamed(plan, &ending);
        let kernels = renamed.kernels.iter().map(|kernel| kernels::function(&renamed, &names, kernel));
        text.functions.extend(kernels);
        symbols.push(format!("{}_invoke", renamed.program.name));
        let boundaries = copies.clone();
        let entry = Entry { plan: &renamed, arguments, boundaries, ending, between_tiles: false };
        text.functions.extend(entry.functions());
    }
    let file = |ending: &str, template: &str| {
        let name = format!("{}.{ending}", program.name);
        render(template, &text).map(|text| GeneratedFile { name, text })
    };
    Ok((vec![file("c", "openmp/program.c")?, file("h", "openmp/program.h")?], symbols))
}

/// The plan with other names for its entry points and kernels.
pub(super) fn renamed(plan: &KernelPlan, ending: &str) -> KernelPlan {
    let program = Program { name: format!("{}{ending}", plan.program.name), ..(*plan.program).clone() };
    let mut renamed = KernelPlan { program: Arc::new(program), ..plan.clone() };
    for kernel in &mut renamed.kernels {
        kernel.name.push_str(ending);
    }
    renamed
}
