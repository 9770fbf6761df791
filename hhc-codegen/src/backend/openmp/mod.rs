//! The OpenMP C back end: a library file with a plain C entry point, its header, a standalone main and a
//! build file. Tiles run in parallel; a tile works in place on the grid, because caches find its data by
//! themselves; rows of a tile are computed several at a time, because neighbouring rows share loads.

mod around;
mod below;
mod boundary;
mod choice;
mod copy;
mod described;
mod entry;
mod grid;
mod kernels;
mod lines;
mod moving;
mod parts;
mod ranks;
mod rows;
mod variants;

use super::arguments::Arguments;
use super::ghosts::Zones;
use super::names::Names;
use super::plain_loops::{PlainLoops, plain_loops, uses_exp};
use super::standalone::{self, Standalone};
use super::templates::render;
use super::{GeneratedFile, Signature, storages};
use crate::PlanError;
use crate::plan::KernelPlan;
use below::Below;
use entry::Entry;
use serde::Serialize;
use std::slice;

pub use choice::generate_with_choice;
pub use copy::runs_in_copy;
pub use described::{Caches, feature_names, features, prefix as choice_prefix};
pub(super) use ranks::RanksText;
pub use ranks::{RANKS_COSTS, RanksCosts, RanksFiles, generate_ranks, ranks_compute_once, ranks_library};
pub use rows::forms as row_forms;
pub use variants::{Variants, can_be_variants, variants};

/// The files of a plan for OpenMP: `NAME.c`, `NAME.h`, `NAME_main.c`, `CMakeLists.txt`.
///
/// # Errors
/// [`PlanError::Limit`] where blocks need more memory of their own than a thread has.
pub fn generate(plan: &KernelPlan) -> Result<Vec<GeneratedFile>, PlanError> {
    let names = storages::names(plan);
    let own_bytes = parts::own_bytes(plan)?;
    ProgramText::new(slice::from_ref(plan), &names, own_bytes, Below::Callers).files()
}

/// The same files for a library for ranks: callers can do something else between tiles, boxes can have bounds that move, and the build file
/// has that library, too.
fn generate_below_ranks(plan: &KernelPlan, moving: bool) -> Result<Vec<GeneratedFile>, PlanError> {
    let names = storages::names(plan);
    let below = Below::Ranks { moving };
    ProgramText::new(slice::from_ref(plan), &names, parts::own_bytes(plan)?, below).files()
}

/// The data of the templates.
#[derive(Serialize)]
struct ProgramText {
    version: &'static str,
    description: Vec<String>,
    strategy: &'static str,
    tile: String,
    signature: Signature,
    uses_exp: bool,
    exp_header: &'static str,
    /// Bytes of a thread's own memory.
    own_bytes: i64,
    /// The prototypes of the entry points.
    prototypes: [String; 7],
    /// What the arrays are, as lines of a comment.
    arrays: Vec<String>,
    /// The functions that say where the newest levels are.
    slots: Vec<String>,
    /// What all functions work on.
    grid: String,
    /// Whether grids whose rows collide are copied, and from which size on.
    has_copy: bool,
    copied_from: copy::CopiedFrom,
    /// Whether calls take memory.
    allocates: bool,
    /// The ghost zones of a periodic grid.
    around: Option<Zones>,
    /// Elements of the smallest type in a cache line, and of the largest one.
    line: usize,
    line_of_largest: usize,
    /// The functions of statements, and then those of kernels, boundaries and the entry points.
    functions: Vec<String>,
    reference: Vec<PlainLoops>,
    standalone: Standalone,
    /// Where there are several tilings: what chooses among them.
    choice: Option<described::Choosing>,
    /// Whether there is a library for ranks, and whether its boxes have bounds that move.
    ranks: bool,
    moving: bool,
    /// Whether the functions of statements are in a file of their own, and whether this is that file.
    rows_apart: bool,
    rows_alone: bool,
    /// Whether functions of statements shift neighbours out of vectors, for which a long header is read.
    shifts: bool,
    /// Grid of the standalone main's check: odd, and larger than a tile where that is cheap.
    check_sizes: &'static [i64],
    /// Grid that the standalone main times where none is given.
    default_sizes: &'static [i64],
}

impl ProgramText {
    /// The text of the first of these plans, with the functions of statements that any of them calls.
    fn new(plans: &[KernelPlan], names: &Names, own_bytes: i64, below: Below) -> Self {
        let statements = rows::functions(plans, names, below);
        ProgramText::with_rows(&plans[0], names, own_bytes, below, statements)
    }

    /// The text of a plan with these functions of statements.
    fn with_rows(
        plan: &KernelPlan,
        names: &Names,
        own_bytes: i64,
        below: Below,
        statements: Vec<String>,
    ) -> Self {
        let program = &plan.program;
        let arguments = Arguments { program, names, spare: false };
        let (copies, boundaries): (_, Vec<String>) = boundary::functions(arguments).into_iter().unzip();
        let ending = String::new();
        let (ranks, moving) = (below.is_of_ranks(), below.moves());
        let has_copy = copy::has_copy(plan, below);
        let entry = Entry { plan, arguments, boundaries: copies, ending, below };
        let signature = Signature::new(program, names).with_witnesses(&plan.witnesses);
        let kernels = plan.kernels.iter().map(|kernel| kernels::function(plan, names, kernel));
        ProgramText {
            version: env!("CARGO_PKG_VERSION"),
            description: standalone::description(program),
            strategy: plan.strategy,
            tile: plan.tile.to_string(),
            uses_exp: uses_exp(program),
            exp_header: polyhedral::portable_exp::C_HEADER.trim_end(),
            own_bytes,
            prototypes: entry.prototypes(),
            arrays: signature.arrays(),
            slots: signature.slots(),
            grid: grid::structure(arguments, has_copy, moving, &plan.witnesses),
            has_copy,
            copied_from: copy::COPIED_FROM,
            allocates: has_copy || plan.program.is_periodic(),
            around: Zones::of(plan),
            line: 64 / program.fields.iter().map(|field| field.element.bytes()).min().unwrap_or(4),
            line_of_largest: 64 / program.fields.iter().map(|field| field.element.bytes()).max().unwrap_or(4),
            functions: (statements.iter().cloned())
                .chain(kernels)
                .chain(boundaries)
                .chain(entry.functions())
                .collect(),
            reference: plain_loops(program, names),
            standalone: Standalone::openmp(arguments, &signature),
            choice: None,
            ranks,
            rows_apart: false,
            rows_alone: false,
            shifts: rows::shift(&statements),
            moving,
            check_sizes: [&[1013], &[161, 277][..], &[61, 47, 53]][program.dimension() - 1],
            default_sizes: [&[1 << 24], &[4096, 4096][..], &[256, 256, 256]][program.dimension() - 1],
            signature,
        }
    }

    /// Has these functions of statements, and no others.
    fn set_rows(&mut self, functions: Vec<String>) {
        self.shifts = rows::shift(&functions);
        self.functions = functions;
    }

    /// The files.
    fn files(&self) -> Result<Vec<GeneratedFile>, PlanError> {
        let name = &self.signature.name;
        let file =
            |name: String, template: &str| render(template, self).map(|text| GeneratedFile { name, text });
        Ok(vec![
            file(format!("{name}.c"), "openmp/program.c")?,
            file(format!("{name}.h"), "openmp/program.h")?,
            file(format!("{name}_main.c"), "openmp/main.c")?,
            file("CMakeLists.txt".to_string(), "openmp/CMakeLists.txt")?,
        ])
    }
}
