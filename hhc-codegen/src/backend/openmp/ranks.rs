//! The OpenMP code on the ranks of MPI: a library around the entry points of [`super`], which exchanges ghost zones and
//! calls them for boxes of the grid, and a program that runs it.

use super::super::GeneratedFile;
use super::super::names::Names;
use super::super::signature::Signature;
use super::super::standalone::description;
use super::super::templates::render;
use super::moving;
use crate::PlanError;
use crate::plan::KernelPlan;
use crate::plan_counts::steps_of_tile;
use polyhedral::ghost::{GhostProof, Ghosts};
use polyhedral::program::{FieldRole, Program};
use polyhedral::slant::Slants;
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
    /// Sets of points that isl showed empty besides, where points that need no ghosts are computed before the others in place.
    pub lines: Option<usize>,
}

/// What the library for ranks takes messages and points to cost where its caller says nothing else, to choose how deep ghost zones are.
#[derive(Debug, Clone, Copy)]
pub struct RanksCosts {
    /// Seconds of a message.
    pub latency_s: f64,
    /// Of messages.
    pub bandwidth_bytes_per_s: f64,
    /// Of a rank's memory.
    pub memory_bytes_per_s: f64,
    /// Seconds of a point.
    pub point_s: f64,
}

/// Stated, not measured.
pub const RANKS_COSTS: RanksCosts =
    RanksCosts { latency_s: 5e-6, bandwidth_bytes_per_s: 5e9, memory_bytes_per_s: 1e10, point_s: 5e-10 };

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
    let moving = Moving::of(plan, &ghosts);
    let data = RanksText::new(plan, &ghosts, moving.as_ref(), ranks);
    let file = |ending: &str, template: &str| {
        let name = format!("{}_mpi{ending}", program.name);
        render(template, &data).map(|text| GeneratedFile { name, text })
    };
    let mut files = super::generate_below_ranks(plan, moving.is_some())?;
    files.extend([
        file(".c", "openmp/ranks.c")?,
        file(".h", "openmp/ranks.h")?,
        file("_main.c", "openmp/ranks_main.c")?,
    ]);
    Ok(RanksFiles { files, ghosts, proof, lines: moving.map(|moving| moving.sets) })
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
    let text = render("openmp/ranks_loaded.c", &RanksText::new(plan, &all.ghosts, None, None))?;
    files.push(GeneratedFile { name: format!("{name}_mpi_loaded.c"), text });
    Ok(files)
}

/// Bounds that move with the steps, so that each point of a rank's box is computed once, in place.
struct Moving {
    slants: Slants,
    margins: Vec<Vec<[i64; 2]>>,
    /// Sets that isl showed empty.
    sets: usize,
}

impl Moving {
    /// Those of a plan whose rows can be narrowed, and whose lines are proved; else none, and parts of a box have memory of their own.
    fn of(plan: &KernelPlan, ghosts: &Ghosts) -> Option<Moving> {
        let slants = Slants::of(&plan.program, ghosts).ok()?;
        let margins = Ghosts::margins(&plan.program);
        if !moving::can_move(plan, &slants, &margins) {
            return None;
        }
        let sets = slants.prove(&plan.program).ok()?;
        Some(Moving { slants, margins, sets })
    }
}

/// Whether ranks compute each point of their boxes once ([`polyhedral::slant`]): first what needs no ghosts, and what does afterwards; else
/// the latter is computed in memory of its own, and points beside it twice.
pub fn ranks_compute_once(plan: &KernelPlan) -> bool {
    Ghosts::of(&plan.program).is_ok_and(|ghosts| Moving::of(plan, &ghosts).is_some())
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
pub(in super::super) struct RanksText {
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
    /// Whether parts of a box have bounds that move, and these.
    moving: bool,
    margins: Table,
    slope: String,
    slants: Table,
    /// Whether the grid wraps around anywhere, and where.
    periodic: bool,
    wraps: String,
    /// Whether a device computes, after how many steps the levels of all its fields lie where they lay before, the most levels of a field,
    /// and what guards the header of what it is to do.
    device: bool,
    turns: usize,
    most_slots: usize,
    guard_of_device: String,
    /// Names in CMake.
    cmake: String,
    cmake_option: String,
    /// The arguments of the device's entry point, from uniform ones.
    passed: String,
    /// The end of the name of the entry point that computes steps of a box.
    steps_of_box: &'static str,
    ranks: String,
    tile_steps: i64,
    costs: CostsText,
    /// Names, for the program's messages and files.
    field_names: Vec<String>,
    state: Vec<usize>,
    check_sizes: &'static str,
    default_sizes: &'static str,
}

impl RanksText {
    /// The library for a program whose boxes are computed by a device.
    pub(in super::super) fn on_devices(plan: &KernelPlan, ghosts: &Ghosts, ranks: Option<&[i64]>) -> Self {
        RanksText { device: true, ..RanksText::new(plan, ghosts, None, ranks) }
    }

    fn new(plan: &KernelPlan, ghosts: &Ghosts, moving: Option<&Moving>, ranks: Option<&[i64]>) -> Self {
        let program = &plan.program;
        let dimension = program.dimension();
        let pairs = |pairs: &[[i64; 2]]| {
            pairs.iter().map(|[low, high]| format!("{{ {low}, {high} }}")).collect::<Vec<_>>().join(", ")
        };
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let by_statement = |of: fn(&Moving) -> &Vec<Vec<[i64; 2]>>| -> Table {
            let rows = moving.into_iter().flat_map(of).map(|all| format!("{{ {} }}", pairs(all)));
            rows.collect::<Vec<_>>().into()
        };
        let slots = || program.fields.iter().map(|field| field.role.slots());
        let open = vec![0; dimension];
        let signature = Signature::new(program, &Names::new(program));
        let parameters: Vec<String> =
            program.parameters.iter().map(|parameter| format!("{:?}", parameter.default)).collect();
        RanksText {
            version: env!("CARGO_PKG_VERSION"),
            name: program.name.clone(),
            description: description(program),
            arrays: arrays(program),
            guard: format!("TILEWRIGHT_{}_mpi_H", program.name),
            device: false,
            turns: slots().fold(1, common_multiple),
            most_slots: slots().max().unwrap_or(1),
            guard_of_device: format!("TILEWRIGHT_{}_mpi_device_H", program.name),
            passed: passed(&signature),
            cmake: signature.cmake.clone(),
            cmake_option: signature.cmake_option.clone(),
            fingerprint: fingerprint(&program.to_source()),
            dimension,
            fields: fields(program).into(),
            series: (program.series.iter())
                .map(|series| format!("{{ {}, {} }}", series.element.bytes(), series.length(0)))
                .collect::<Vec<_>>()
                .into(),
            slots: slots().sum(),
            directions: 3_usize.pow(dimension as u32),
            parameters: parameters.len(),
            defaults: if parameters.is_empty() { "0".to_owned() } else { parameters.join(", ") },
            reach: pairs(&ghosts.reach),
            frame: pairs(&ghosts.frame),
            least: list(&program.least_size),
            moving: moving.is_some(),
            margins: by_statement(|moving| &moving.margins),
            slope: moving.map(|moving| pairs(&moving.slants.slope)).unwrap_or_default(),
            slants: by_statement(|moving| &moving.slants.margins),
            periodic: program.is_periodic(),
            wraps: list(&program.periodic.iter().map(|&periodic| i64::from(periodic)).collect::<Vec<_>>()),
            steps_of_box: if program.is_periodic() { "wide" } else { "levels" },
            ranks: list(ranks.unwrap_or(&open)),
            tile_steps: steps_of_tile(plan),
            costs: CostsText::new(),
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

/// [`RANKS_COSTS`] as C has them.
#[derive(Serialize)]
struct CostsText {
    latency_s: String,
    bandwidth_bytes_per_s: String,
    memory_bytes_per_s: String,
    point_s: String,
}

impl CostsText {
    fn new() -> CostsText {
        let RanksCosts { latency_s, bandwidth_bytes_per_s, memory_bytes_per_s, point_s } = RANKS_COSTS;
        let text = |number: f64| format!("{number:e}");
        CostsText {
            latency_s: text(latency_s),
            bandwidth_bytes_per_s: text(bandwidth_bytes_per_s),
            memory_bytes_per_s: text(memory_bytes_per_s),
            point_s: text(point_s),
        }
    }
}

/// The least number that both divide.
fn common_multiple(a: usize, b: usize) -> usize {
    let (a, b) = (a.max(1), b.max(1));
    (1..=b).map(|times| a * times).find(|multiple| multiple.is_multiple_of(b)).unwrap_or(a * b)
}

/// The arguments of the strided entry point of a device, from arrays, sizes, steps, parameters and a stream.
fn passed(signature: &Signature) -> String {
    let array = |qualifier: &str, kind: &str, at: usize| format!("({qualifier}{kind} *)arrays[{at}]");
    let fields = signature.fields.iter().map(|field| array(&field.qualifier, &field.c_type, field.index));
    let series = signature.series.iter().map(|series| array("const ", &series.c_type, series.index));
    let sizes = (0..2 * signature.sizes.len()).map(|at| format!("(ptrdiff_t)sizes[{at}]"));
    let parameters = signature.parameters.iter().map(|parameter| format!("parameters[{}]", parameter.index));
    let all = fields.chain(series).chain(sizes).chain(["(ptrdiff_t)steps".to_owned()]).chain(parameters);
    all.chain(["(cudaStream_t)stream".to_owned()]).collect::<Vec<_>>().join(", ")
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
