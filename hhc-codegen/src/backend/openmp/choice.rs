//! Several tilings of one program in one library, one of which is chosen at each call from what the grid is like.
//!
//! The library knows how to describe a call ([`super::features`]) and how to run each tiling; who chooses is a function of a file of its
//! own, `NAME_choice_choose`, which gets the description and returns the number of a tiling.

use super::below::Below;
use super::described::{Caches, Choosing, Numbered, prefix};
use super::entry::Entry;
use super::variants::renamed;
use super::{ProgramText, boundary, kernels, parts, rows, storages};
use crate::PlanError;
use crate::backend::GeneratedFile;
use crate::backend::arguments::Arguments;
use crate::plan::KernelPlan;
use c_tree::{Block, Dialect, Expr, Function, Stmt, Type, call, int, name};
use polyhedral::program::Program;

/// The files of plans that [`super::can_be_variants`], as [`super::generate`] has them for one: `NAME.c` needs `NAME_choice.h`,
/// which is not among them.
///
/// # Errors
/// As for [`super::generate`].
pub fn generate_with_choice(plans: &[KernelPlan], caches: Caches) -> Result<Vec<GeneratedFile>, PlanError> {
    let Some(first) = plans.first() else { return Ok(Vec::new()) };
    let program = &first.program;
    let names = storages::names(first);
    let arguments = Arguments { program, names: &names, spare: false };
    let mut text = ProgramText::new(plans, &names, parts::own_bytes(first)?, Below::Callers);
    let (copies, boundaries): (_, Vec<String>) = boundary::functions(arguments).into_iter().unzip();
    let mut functions = rows::functions(plans, &names, Below::Callers);
    for (number, plan) in plans.iter().enumerate() {
        let ending = format!("_v{number}");
        let renamed = renamed(plan, &ending);
        functions.extend(renamed.kernels.iter().map(|kernel| kernels::function(&renamed, &names, kernel)));
        let entry =
            Entry { plan: &renamed, arguments, boundaries: Vec::new(), ending, below: Below::Callers };
        functions.push(entry.launches().print(Dialect::C));
    }
    functions.push(chosen(program, plans.len()).print(Dialect::C));
    functions.extend(boundaries);
    let ending = String::new();
    let entry = Entry { plan: first, arguments, boundaries: copies, ending, below: Below::Callers };
    functions.extend(entry.callers());
    text.functions = functions;
    let tiling = |(number, plan): (usize, &KernelPlan)| Numbered {
        number,
        text: format!("{} {}", plan.strategy, plan.tile),
    };
    text.choice = Some(Choosing {
        caches,
        bytes_of_a_point: program.bytes_of_a_point(),
        prefix: prefix(program),
        tilings: plans.iter().enumerate().map(tiling).collect(),
    });
    text.files()
}

/// The launches of the tiling that is chosen.
fn chosen(program: &Program, tilings: usize) -> Function {
    let grid = name("grid");
    let sizes = (0..program.dimension()).map(|d| grid.arrow(format!("n{d}")));
    let number: Expr = call(format!("{}_variant", program.name), sizes.chain([grid.arrow("steps")]));
    let mut body = Block::from([Stmt::constant("int", "tw_number", number)]);
    let run = |number: usize| Stmt::call(format!("{}_v{number}", super::grid::LAUNCHES), [name("grid")]);
    for other in 1..tilings {
        let branch = [run(other), Stmt::Return(None)];
        body.push(Stmt::when(name("tw_number").is(int(other as i64)), branch));
    }
    body.push(run(0));
    Function::new(super::grid::LAUNCHES)
        .comment("The launches of the tiling that is chosen.")
        .attribute("static")
        .result("void")
        .parameter(Type::new("struct tw_grid").constant().pointer(), "grid")
        .body(body)
}
