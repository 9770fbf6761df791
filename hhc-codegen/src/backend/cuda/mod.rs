//! The CUDA back end: kernels that keep the window of a tile in shared memory, a plain C entry point that launches
//! them, its header, a standalone main and a build file. The text is that of `docs/cuda-contract.md`.
//!
//! A kernel whose plan keeps nothing works in memory directly; one that keeps windows stages its sub-tiles in shared
//! memory; one that says where values live is printed part by part.

mod ahead;
mod around;
mod blocks;
mod boundary;
mod cells;
mod check;
mod clipped_rows;
mod direct;
mod full_rows;
mod host;
mod inside;
mod kernel;
mod lanes;
mod limits;
mod loads;
mod moves;
mod parts;
mod printer;
mod ranks;
mod rows;
mod spare;
mod staged;
mod staging;
mod sweeps;
mod team;
mod text;
mod wanted;
mod ways;

pub use kernel::CudaKernel;
pub use limits::DeviceLimits;
pub use ranks::generate_ranks;

use super::arguments::Arguments;
use super::bounds::bindings;
use super::ghosts::Zones;
use super::plain_loops::{PlainLoops, plain_loops, uses_exp, uses_extrema, uses_square};
use super::points::INT;
use super::standalone::{self, Standalone};
use super::templates::render;
use super::{GeneratedFile, Signature, storages};
use crate::PlanError;
use crate::geometry::Threads;
use crate::plan::{Kernel, KernelPlan};
use crate::storage::Memory;
use blocks::Blocks;
use boundary::boundary_kernels;
use c_tree::{Block, Dialect, Function, Stmt, name, var};
use check::Check;
use host::Host;
use serde::Serialize;
use staging::Staging;
use ways::Ways;

/// What can be chosen.
#[derive(Debug, Clone, Default)]
pub struct CudaOptions {
    /// Limits of the device that the program must run on.
    pub limits: DeviceLimits,
}

/// A plan as CUDA.
#[derive(Debug, Clone)]
pub struct CudaProgram {
    /// `NAME.cu`, `NAME.h`, `NAME_main.cu`, `CMakeLists.txt`.
    pub files: Vec<GeneratedFile>,
    /// The text of `NAME.cu`, for NVRTC and the emulator: with `TW_DEVICE_ONLY` defined it has no host code.
    pub device_source: String,
    /// The kernels in the order of the plan's kernels.
    pub kernels: Vec<CudaKernel>,
    /// Kernels that a caller without the C entry point launches once before the first time step: each gives the
    /// fixed boundary of one field to all its stored levels. Their host variable is 0.
    pub boundary: Vec<CudaKernel>,
    /// Distances in memory that some kernels are given, in bytes: each so much of each outer stride.
    pub ways: Vec<Vec<i64>>,
}

/// A plan as CUDA text.
///
/// # Errors
/// [`PlanError::Limit`] where a tile needs more shared memory than there is, [`PlanError::Tile`] where a
/// dimension that has to be cut is not, and [`PlanError::Unsupported`] for rows that are not printed.
pub fn generate(plan: &KernelPlan, options: &CudaOptions) -> Result<CudaProgram, PlanError> {
    let program = &plan.program;
    for kernel in plan.kernels.iter().filter(|kernel| kernel.memory == Memory::Arrays) {
        let unsupported = |reason: &str| PlanError::Unsupported {
            target: "CUDA",
            kernel: kernel.name.clone(),
            strategy: plan.strategy.to_owned(),
            reason: reason.to_owned(),
        };
        if kernel.instances.iter().any(|instance| instance.slanted().is_some()) {
            return Err(unsupported("its rows are slanted"));
        }
        let one_row =
            kernel.sub_tiles.is_empty() && kernel.rows.low == kernel.rows.high && kernel.instances.len() == 1;
        if !kernel.in_parts() && !one_row {
            return Err(unsupported("a block that works on the arrays alone computes one row"));
        }
    }
    let names = storages::names(plan);
    let arguments = Arguments { program, names: &names, spare: plan.has_spare_slots() };
    let takes_ways = |kernel: &Kernel| match program.dimension() {
        1 => false,
        _ => !kernel.in_parts() || kernel.team,
    };
    let ways = match plan.kernels.iter().any(takes_ways) {
        true => Ways::new(arguments),
        false => Ways::default(),
    };
    let mut shapes: Vec<Staging<'_>> = Vec::new();
    let mut kernels = Vec::new();
    let mut functions = Vec::new();
    for (at, kernel) in plan.kernels.iter().enumerate() {
        let takes_ways = takes_ways(kernel);
        let symbol = format!("{}_{}", program.name, kernel.name);
        let (threads, blocks_at_once, shared_bytes, traffic, body) = if kernel.in_parts() {
            let resources = parts::Resources::new(plan, kernel, &options.limits)?;
            let (blocks, body) = match team::Team::of(plan, &names, kernel, &ways) {
                Some(team) => (team.blocks_at_once(&resources.threads), team.block(&resources.layout)),
                // Part by part, the lanes of several warps would not be told apart.
                None if kernel.team && storages::has_lanes(plan) => {
                    return Err(PlanError::Unsupported {
                        target: "CUDA",
                        kernel: kernel.name.clone(),
                        strategy: plan.strategy.to_owned(),
                        reason: "the rows of its team are not where registers are".to_owned(),
                    });
                }
                None if plan.has_spare_slots() => {
                    return Err(PlanError::Unsupported {
                        target: "CUDA",
                        kernel: kernel.name.clone(),
                        strategy: plan.strategy.to_owned(),
                        reason: "spare slots are printed for teams alone".to_owned(),
                    });
                }
                None => (Blocks::all(1), parts::block(plan, &names, kernel, &resources)),
            };
            (resources.threads.block(), blocks, resources.layout.bytes as u32, None, body)
        } else if kernel.memory == Memory::Arrays {
            let threads = Threads::in_memory(kernel, options.limits.threads_per_block);
            let direct = direct::Direct { plan, names: &names, kernel, threads: &threads, ways: &ways };
            functions.push(direct.function());
            let body = direct.block();
            let body = match direct.has_short_indices() {
                true => {
                    functions.push(direct.block_function(arguments, body));
                    direct.either(arguments)
                }
                false => body,
            };
            (threads.block(), Blocks::all(direct.blocks_at_once()), 0, None, body)
        } else {
            let known = shapes.iter().position(|shape| shape.kernel.has_tiles_of(kernel));
            let index = known.map_or_else(
                || {
                    shapes.push(Staging::new(plan, at, &options.limits)?);
                    Ok::<usize, PlanError>(shapes.len() - 1)
                },
                Ok,
            )?;
            let staging = &shapes[index];
            // The compiler would make the place of a tile anew in each sub-tile, by products of its number.
            let of_block = |name: &str| {
                let own = kernel.bindings.iter().filter(|binding| binding.name == name);
                let mut places =
                    own.flat_map(|own| kernel.blocks.iter().map(move |block| (own, block.variable)));
                !kernel.sub_tiles.is_empty() && places.any(|(own, block)| own.value.mentions(block))
            };
            let placed_by = staging.placed_by.iter().map(|name| match of_block(name) {
                true => text::here(var(*name)),
                false => var(*name),
            });
            let call = Stmt::call(
                staged::tile_function(index),
                text::passed(arguments).into_iter().chain(takes_ways.then(ways::argument)).chain(placed_by),
            );
            let blocks = Blocks::all(staging.blocks_at_once);
            let bytes = staging.shared_bytes as u32;
            (staging.threads.block(), blocks, bytes, Some(staging.traffic(plan)), call.into())
        };
        let shape = Shape { symbol: &symbol, threads, blocks_at_once, takes_ways };
        functions.push(function(plan, arguments, kernel, &shape, body));
        kernels.push(CudaKernel {
            name: kernel.name.clone(),
            symbol,
            threads,
            shared_bytes,
            blocks: kernel.blocks.clone(),
            traffic,
            takes_ways,
        });
    }
    let (boundary, copies) = boundary_kernels(arguments);
    let tiles = shapes.iter().enumerate();
    let tiles = tiles.flat_map(|(index, shape)| staged::functions(shape, plan, &names, index, &ways));
    let functions = tiles.chain(functions).chain(copies).collect();
    let ways = ways.into_table();
    let host = Host { plan, arguments, kernels: &kernels, boundary: &boundary, ways: &ways };
    let signature = Signature::new(program, &names);
    let has_windows = !shapes.is_empty();
    let sweeps = |kernel: &Kernel| !kernel.in_parts() && kernel.memory == Memory::Arrays;
    let has_sweeps = plan.kernels.iter().any(sweeps);
    let has_slices = program.dimension() == 3 && plan.kernels.iter().any(|kernel| kernel.team);
    let data = ProgramText {
        version: env!("CARGO_PKG_VERSION"),
        description: standalone::description(program),
        strategy: plan.strategy,
        tile: plan.tile.to_string(),
        uses_warps: plan.kernels.iter().any(|kernel| kernel.team || !kernel.warps.is_empty()),
        around: Zones::of(plan),
        spare: plan.has_spare_slots(),
        has_junk: storages::has_junk(plan),
        has_lanes: storages::has_lanes(plan),
        has_windows,
        has_sweeps,
        has_slices,
        from_registers: has_sweeps || has_slices,
        ways: ways.len(),
        goes_further: !ways.is_empty() || (has_windows && program.dimension() == 1),
        in_space: program.dimension() == 3,
        uses_exp: uses_exp(program),
        uses_extrema: uses_extrema(program),
        uses_square: uses_square(program),
        check: Check::new(program),
        exp_header: polyhedral::portable_exp::C_HEADER.trim_end(),
        functions,
        prototypes: host.prototypes(),
        host: host.functions(),
        arrays: signature.arrays(),
        slots: signature.slots(),
        reference: plain_loops(program, &names),
        standalone: Standalone::cuda(arguments, &signature),
        check_sizes: [&[10_013], &[261, 377][..], &[61, 47, 83]][program.dimension() - 1],
        default_sizes: [&[1 << 26], &[8192, 8192][..], &[512, 512, 512]][program.dimension() - 1],
        signature,
    };
    let file =
        |name: String, template: &str| render(template, &data).map(|text| GeneratedFile { name, text });
    let files = vec![
        file(format!("{}.cu", program.name), "cuda/program.cu")?,
        file(format!("{}.h", program.name), "cuda/program.h")?,
        file(format!("{}_main.cu", program.name), "cuda/main.cu")?,
        file("CMakeLists.txt".to_string(), "cuda/CMakeLists.txt")?,
    ];
    Ok(CudaProgram { device_source: files[0].text.clone(), files, kernels, boundary, ways })
}

/// The data of the templates.
#[derive(Serialize)]
struct ProgramText {
    version: &'static str,
    description: Vec<String>,
    strategy: &'static str,
    tile: String,
    /// Whether warps run parts of their own.
    uses_warps: bool,
    /// The ghost zones of a periodic grid.
    around: Option<Zones>,
    /// Whether there are spare slots, which the entry point takes.
    spare: bool,
    /// Whether some lanes compute what nobody needs.
    has_junk: bool,
    /// Whether some storages are in registers of lanes.
    has_lanes: bool,
    /// Whether tiles are staged in shared memory.
    has_windows: bool,
    /// Whether kernels work on the arrays alone.
    has_sweeps: bool,
    /// Whether teams of warps stream through planes, with slices of them in registers.
    has_slices: bool,
    /// Whether there are places in memory that compilers shall have from registers alone.
    from_registers: bool,
    /// How many distances in memory kernels are given.
    ways: usize,
    /// Whether places in memory are found by bytes.
    goes_further: bool,
    /// Whether there are three dimensions.
    in_space: bool,
    uses_exp: bool,
    uses_extrema: bool,
    uses_square: bool,
    /// What results are held against.
    check: Check,
    exp_header: &'static str,
    /// The functions of the device: those of tiles, kernels, and kernels that copy boundaries.
    functions: Vec<String>,
    /// The prototypes of the entry points.
    prototypes: [String; 2],
    /// The entry points.
    host: Vec<String>,
    /// What the arrays are, as lines of a comment.
    arrays: Vec<String>,
    /// The functions that say where the newest levels are.
    slots: Vec<String>,
    reference: Vec<PlainLoops>,
    standalone: Standalone,
    /// Grid of the standalone main's check: odd, and larger than a tile.
    check_sizes: &'static [i64],
    /// Grid that the standalone main times where none is given.
    default_sizes: &'static [i64],
    signature: Signature,
}

/// What is decided of a kernel's function.
struct Shape<'a> {
    symbol: &'a str,
    threads: [u32; 3],
    /// Blocks that shall fit in the registers of a multiprocessor.
    blocks_at_once: Blocks,
    takes_ways: bool,
}

/// The function of a kernel, which does `work` in its place.
fn function(
    plan: &KernelPlan,
    arguments: Arguments<'_>,
    kernel: &Kernel,
    shape: &Shape<'_>,
    work: Block,
) -> String {
    let mut inner = bindings(kernel, &work);
    inner.extend(work);
    let axes = kernel.blocks.iter().rev().zip(["x", "y", "z"]).rev();
    let places = axes.map(|(block, axis)| {
        let index = name("blockIdx").dot(axis).cast(INT);
        Stmt::constant(INT, block.variable, var(format!("{}_first", block.variable)) + index)
    });
    let mut body: Block = text::used(places.collect(), &inner).into_iter().collect();
    body.extend(inner);
    let threads: u32 = shape.threads.iter().product();
    let blocks = shape.blocks_at_once.text();
    let function = Function::new(shape.symbol)
        .comment(kernel.comment.as_str())
        .attribute("extern \"C\" __global__")
        .result(format!("void __launch_bounds__({threads}, {blocks})"))
        .parameters(text::parameters(arguments))
        .parameter("long long", plan.outer.variable)
        .parameters(kernel.blocks.iter().map(|block| ("long long", format!("{}_first", block.variable))));
    ways::parameter(function, shape.takes_ways).body(body).print(Dialect::Cuda)
}
