//! The OpenMP code on the ranks of MPI: a library around the entry points of [`super`], which exchanges ghost zones and
//! calls them for boxes of the grid, and a program that runs it.

use super::super::GeneratedFile;
use super::super::names::Names;
use super::super::signature::Signature;
use super::super::standalone::description;
use super::super::templates::render;
use crate::PlanError;
use crate::plan::KernelPlan;
use crate::plan_counts::steps_of_tile;
use polyhedral::ghost::{GhostProof, Ghosts};
use polyhedral::program::{FieldRole, Program};
use serde::Serialize;

/// The files for ranks, and what was shown of them.
#[derive(Debug)]
pub struct RanksFiles {
    /// `NAME_mpi.c`, `NAME_mpi.h`, `NAME_mpi_main.c`, and those of [`super::generate`] as they are below ranks.
    pub files: Vec<GeneratedFile>,
    /// The ghost zones.
    pub ghosts: Ghosts,
    /// The proof that they suffice.
    pub proof: GhostProof,
}

/// The files of a plan on ranks of MPI; `ranks` per dimension, or none where the library is to choose.
///
/// # Errors
/// [`PlanError::Refused`] for programs that cannot be distributed.
pub fn generate_ranks(plan: &KernelPlan, ranks: Option<&[i64]>) -> Result<RanksFiles, PlanError> {
    let program = &plan.program;
    let refused = |reason: String| PlanError::Refused {
        strategy: plan.strategy.to_owned(),
        stencil: program.name.clone(),
        reason: format!("it cannot be spread over ranks: {reason}"),
    };
    let ghosts = Ghosts::of(program).map_err(|error| refused(error.to_string()))?;
    let proof = ghosts.prove(program).map_err(|error| refused(error.to_string()))?;
    let data = RanksText::new(plan, &ghosts, ranks);
    let file = |ending: &str, template: &str| {
        let name = format!("{}_mpi{ending}", program.name);
        render(template, &data).map(|text| GeneratedFile { name, text })
    };
    let mut files = super::generate_below_ranks(plan)?;
    files.extend([
        file(".c", "openmp/ranks.c")?,
        file(".h", "openmp/ranks.h")?,
        file("_main.c", "openmp/ranks_main.c")?,
    ]);
    Ok(RanksFiles { files, ghosts, proof })
}

/// The library for ranks, with what a process calls that is built without MPI.
///
/// # Errors
/// As for [`generate_ranks`].
pub fn ranks_library(plan: &KernelPlan) -> Result<Vec<GeneratedFile>, PlanError> {
    let name = &plan.program.name;
    let all = generate_ranks(plan, None)?;
    let own = [".c", ".h", "_mpi.c", "_mpi.h"].map(|ending| format!("{name}{ending}"));
    let mut files: Vec<GeneratedFile> =
        all.files.into_iter().filter(|file| own.contains(&file.name)).collect();
    let text = render("openmp/ranks_loaded.c", &RanksText::new(plan, &all.ghosts, None))?;
    files.push(GeneratedFile { name: format!("{name}_mpi_loaded.c"), text });
    Ok(files)
}

/// Rows of a table in C.
#[derive(Serialize)]
struct Table {
    length: usize,
    rows: Vec<String>,
}

impl From<Vec<String>> for Table {
    fn from(rows: Vec<String>) -> Table {
        Table { length: rows.len(), rows }
    }
}

/// The data of the templates.
#[derive(Serialize)]
struct RanksText {
    version: &'static str,
    name: String,
    description: Vec<String>,
    arrays: Vec<String>,
    guard: String,
    /// Of the program's text.
    fingerprint: u64,
    dimension: usize,
    fields: Table,
    series: Table,
    /// Stored levels of all fields.
    slots: usize,
    directions: usize,
    parameters: usize,
    defaults: String,
    reach: String,
    frame: String,
    least: String,
    /// Whether the grid wraps around anywhere, and where.
    periodic: bool,
    wraps: String,
    /// The end of the name of the entry point that computes steps of a box.
    steps_of_box: &'static str,
    ranks: String,
    tile_steps: i64,
    /// Names, for the program's messages and files.
    field_names: Vec<String>,
    state: Vec<usize>,
    check_sizes: &'static str,
    default_sizes: &'static str,
}

impl RanksText {
    fn new(plan: &KernelPlan, ghosts: &Ghosts, ranks: Option<&[i64]>) -> Self {
        let program = &plan.program;
        let dimension = program.dimension();
        let pairs = |pairs: &[[i64; 2]]| {
            pairs.iter().map(|[low, high]| format!("{{ {low}, {high} }}")).collect::<Vec<_>>().join(", ")
        };
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let open = vec![0; dimension];
        let signature = Signature::new(program, &Names::new(program));
        let parameters: Vec<String> =
            program.parameters.iter().map(|parameter| format!("{:?}", parameter.default)).collect();
        RanksText {
            version: env!("CARGO_PKG_VERSION"),
            name: program.name.clone(),
            description: description(program),
            arrays: arrays(program),
            guard: signature.guard.replace("_H", "_mpi_H"),
            fingerprint: fingerprint(&program.to_source()),
            dimension,
            fields: fields(program).into(),
            series: (program.series.iter())
                .map(|series| format!("{{ {}, {} }}", series.element.bytes(), series.length(0)))
                .collect::<Vec<_>>()
                .into(),
            slots: program.fields.iter().map(|field| field.role.slots()).sum(),
            directions: 3_usize.pow(dimension as u32),
            parameters: parameters.len(),
            defaults: if parameters.is_empty() { "0".to_owned() } else { parameters.join(", ") },
            reach: pairs(&ghosts.reach),
            frame: pairs(&ghosts.frame),
            least: list(&program.least_size),
            periodic: program.is_periodic(),
            wraps: list(&program.periodic.iter().map(|&periodic| i64::from(periodic)).collect::<Vec<_>>()),
            steps_of_box: if program.is_periodic() { "wide" } else { "levels" },
            ranks: list(ranks.unwrap_or(&open)),
            tile_steps: steps_of_tile(plan),
            field_names: program.fields.iter().map(|field| field.name.clone()).collect(),
            state: (program.fields.iter().enumerate())
                .filter(|(_, field)| matches!(field.role, FieldRole::State { .. }))
                .map(|(number, _)| number)
                .collect(),
            check_sizes: ["1013", "161, 277", "61, 47, 53"][dimension - 1],
            default_sizes: ["16777216", "4096, 4096", "256, 256, 256"][dimension - 1],
        }
    }
}

/// The hash FNV-1a, which is the same in all versions and on all machines.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The rows of the table of fields: bytes, slots, levels, whether it changes, its first slot of all.
fn fields(program: &Program) -> Vec<String> {
    let mut first = 0;
    let mut rows = Vec::new();
    for field in &program.fields {
        let (slots, levels, state) = match field.role {
            FieldRole::State { levels, slots } => (slots, levels, 1),
            FieldRole::Coefficient => (1, 1, 0),
        };
        rows.push(format!("{{ {}, {slots}, {levels}, {state}, {first} }}", field.element.bytes()));
        first += slots;
    }
    rows
}

/// Fields and series with their numbers, as lines of a comment.
fn arrays(program: &Program) -> Vec<String> {
    let fields = program.fields.iter().enumerate().map(|(number, field)| {
        let kind = match field.role {
            FieldRole::State { levels: 1, .. } => "one initial level".to_owned(),
            FieldRole::State { levels, .. } => format!("{levels} initial levels"),
            FieldRole::Coefficient => "read only".to_owned(),
        };
        format!("  field {number}: {} {}, {kind}", field.element.c_name(), field.name)
    });
    let series =
        program.series.iter().enumerate().map(|(number, series)| {
            format!("  series {number}: {} {}", series.element.c_name(), series.name)
        });
    fields.chain(series).collect()
}
