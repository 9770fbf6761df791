//! Several tilings of one program: the functions of statements, which take the compiler most of its time, are the same for
//! all of them and in a file of their own, so that they are compiled once for all tilings.

use super::below::Below;
use super::entry::Entry;
use super::{ProgramText, boundary, kernels, parts, render, rows, storages};
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

/// Several tilings of one program as C text.
#[derive(Debug)]
pub struct Variants {
    /// `NAME_rows_STATEMENT.c`, the functions of statements: the same for all tilings of a program with a strategy.
    pub rows: Vec<GeneratedFile>,
    /// `NAME_edges.c`, those of edges, which compute few points.
    pub edges: Option<GeneratedFile>,
    /// `NAME.h`, which both C files include.
    pub header: GeneratedFile,
    /// `NAME.c`, all else.
    pub kernels: GeneratedFile,
    /// The symbol of each plan's `NAME_invoke`.
    pub symbols: Vec<String>,
}

/// The text of plans that [`can_be_variants`]; `None` without any. Where they are `brief`, they are timed for a moment, and have no other entry
/// point than `NAME_invoke`.
///
/// # Errors
/// As for [`super::generate`].
pub fn variants(plans: &[KernelPlan], brief: bool) -> Result<Option<Variants>, PlanError> {
    let Some(first) = plans.first() else { return Ok(None) };
    let names = storages::names(first);
    let program = &first.program;
    let below = if brief { Below::Timing } else { Below::Callers };
    let own_bytes = parts::own_bytes(first)?;
    let (rows, edges, prototypes) = rows::functions_apart(plans, &names, below);
    let mut text = ProgramText {
        rows_apart: true,
        ..ProgramText::with_rows(first, &names, own_bytes, below, prototypes)
    };
    let mut symbols = vec![format!("{}_invoke", program.name)];
    let arguments = Arguments { program, names: &names, spare: false };
    let copies: Vec<String> = boundary::functions(arguments).into_iter().map(|(copy, _)| copy).collect();
    for (number, plan) in plans.iter().enumerate().skip(1) {
        let ending = format!("_v{number}");
        let renamed = renamed(plan, &ending);
        let kernels = renamed.kernels.iter().map(|kernel| kernels::function(&renamed, &names, kernel));
        text.functions.extend(kernels);
        symbols.push(format!("{}_invoke", renamed.program.name));
        let boundaries = copies.clone();
        let entry = Entry { plan: &renamed, arguments, boundaries, ending, below };
        text.functions.extend(entry.functions());
    }
    let file = |text: &ProgramText, ending: &str, template: &str| {
        let name = format!("{}{ending}", program.name);
        render(template, text).map(|text| GeneratedFile { name, text })
    };
    let header = file(&text, ".h", "openmp/program.h")?;
    let kernels = file(&text, ".c", "openmp/program.c")?;
    let mut alone = ProgramText { around: None, rows_alone: true, ..text };
    let mut of_rows = |(ending, texts): (String, Vec<String>)| {
        alone.set_rows(texts);
        file(&alone, &format!("_{ending}.c"), "openmp/program.c")
    };
    let of_statement = |(label, texts)| of_rows((format!("rows_{label}"), texts));
    let rows = rows.into_iter().map(of_statement).collect::<Result<Vec<_>, _>>()?;
    let edges = Some(edges).filter(|edges| !edges.is_empty());
    let edges = edges.map(|texts| of_rows(("edges".to_owned(), texts))).transpose()?;
    Ok(Some(Variants { rows, edges, header, kernels, symbols }))
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
