//! The CUDA back end: kernels that keep the window of a tile in shared memory, a plain C entry point that launches
//! them, its header, a standalone main and a build file. The text is that of `docs/cuda-contract.md`.
//!
//! A kernel whose plan keeps nothing works in memory directly; one that keeps windows stages its sub-tiles in shared
//! memory; one that says where values live is printed part by part.

mod boundary;
mod direct;
mod host;
mod kernel;
mod lanes;
mod limits;
mod loads;
mod parts;
mod printer;
mod staged;
mod staging;
mod text;

pub use kernel::CudaKernel;
pub use limits::DeviceLimits;

use super::names::Names;
use super::plain_loops::{uses_exp, uses_extrema, uses_square};
use super::templates::render;
use super::{GeneratedFile, Signature, storages};
use crate::PlanError;
use crate::geometry::Threads;
use crate::plan::{Kernel, KernelPlan, SIZE_NAMES};
use crate::storage::Memory;
use boundary::boundary_kernels;
use host::HostText;
use polyhedral::program::{FieldRole, Program};
use serde::Serialize;
use staged::ShapeText;
use staging::Staging;
use text::{BindingText, suffixed};

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
}

/// A plan as CUDA text.
///
/// # Errors
/// [`PlanError::Limit`] where a tile needs more shared memory than there is, and [`PlanError::Tile`] where a
/// dimension that has to be cut is not.
pub fn generate(plan: &KernelPlan, options: &CudaOptions) -> Result<CudaProgram, PlanError> {
    let program = &plan.program;
    let names = storages::names(plan);
    let mut shapes: Vec<Shape<'_>> = Vec::new();
    let mut kernels = Vec::new();
    let mut text = Vec::new();
    for (at, kernel) in plan.kernels.iter().enumerate() {
        let symbol = format!("{}_{}", program.name, kernel.name);
        let (threads, blocks_at_once, shared_bytes, traffic, body) = if kernel.in_parts() {
            let resources = parts::Resources::new(plan, kernel, &options.limits)?;
            let body = KernelBody::parts(parts::text(plan, &names, kernel, &resources));
            (resources.threads.block(), 1, resources.layout.bytes as u32, None, body)
        } else if kernel.memory == Memory::Arrays {
            let threads = Threads::in_memory(kernel, options.limits.threads_per_block);
            (threads.block(), 1, 0, None, KernelBody::direct(direct::text(plan, &names, kernel, &threads)))
        } else {
            let known = shapes.iter().position(|shape| shape.kernel.has_tiles_of(kernel));
            let index = known.map_or_else(
                || {
                    let staging = Staging::new(plan, at, &options.limits)?;
                    shapes.push(Shape { kernel, staging });
                    Ok::<usize, PlanError>(shapes.len() - 1)
                },
                Ok,
            )?;
            let Shape { staging, .. } = &shapes[index];
            let call =
                TileCall { function: suffixed("tw_tile", index), placed_by: staging.placed_by.clone() };
            let blocks = staging.blocks_at_once;
            let bytes = staging.shared_bytes as u32;
            (staging.threads.block(), blocks, bytes, Some(staging.traffic(plan)), KernelBody::staged(call))
        };
        text.push(KernelText::new(kernel, &symbol, (threads, blocks_at_once), body));
        kernels.push(CudaKernel {
            name: kernel.name.clone(),
            symbol,
            threads,
            shared_bytes,
            blocks: kernel.blocks.clone(),
            traffic,
        });
    }
    let boundary = boundary_kernels(program);
    let data = ProgramText {
        version: env!("CARGO_PKG_VERSION"),
        description: text_escape::comment_lines(&program.description),
        strategy: plan.strategy,
        tile: plan.tile.to_string(),
        uses_warps: plan.kernels.iter().any(|kernel| !kernel.warps.is_empty()),
        has_junk: storages::has_junk(plan),
        has_lanes: storages::has_lanes(plan),
        uses_exp: uses_exp(program),
        uses_extrema: uses_extrema(program),
        uses_square: uses_square(program),
        exp_header: polyhedral::portable_exp::C_HEADER,
        arguments: Arguments::new(program, &names),
        shapes: (shapes.iter().enumerate())
            .map(|(index, shape)| shape.staging.text(plan, &names, shape.kernel, index))
            .collect(),
        kernels: text,
        host: HostText::new(plan, &names, &kernels, &boundary),
        signature: Signature::new(program, &names),
    };
    let file = |name: String, template: &str| {
        render(template, &data).map(|text| GeneratedFile { name, text: tidy(&text) })
    };
    let files = vec![
        file(format!("{}.cu", program.name), "cuda/program.cu")?,
        file(format!("{}.h", program.name), "cuda/program.h")?,
        file(format!("{}_main.cu", program.name), "cuda/main.cu")?,
        file("CMakeLists.txt".to_string(), "cuda/CMakeLists.txt")?,
    ];
    Ok(CudaProgram { device_source: files[0].text.clone(), files, kernels, boundary })
}

/// Tiles of one shape: the device functions for them are shared by the kernels that place them.
struct Shape<'a> {
    /// The first kernel with such tiles.
    kernel: &'a Kernel,
    staging: Staging<'a>,
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
    /// Whether some lanes compute what nobody needs.
    has_junk: bool,
    /// Whether some storages are in registers of lanes.
    has_lanes: bool,
    uses_exp: bool,
    uses_extrema: bool,
    uses_square: bool,
    exp_header: &'static str,
    arguments: Arguments,
    shapes: Vec<ShapeText>,
    kernels: Vec<KernelText>,
    host: HostText,
    signature: Signature,
}

/// The arguments that all kernels and tile functions have in common.
#[derive(Serialize)]
struct Arguments {
    /// `TW_GLOBAL(float) u, long long n0, .., double alpha`
    declared: String,
    /// `u, n0, .., alpha`
    passed: String,
    /// The same with a stride that the compiler does not know from outside the loop over sub-tiles.
    passed_here: String,
}

impl Arguments {
    fn new(program: &Program, names: &Names) -> Self {
        let dimension = program.dimension();
        let fields = program.fields.iter().zip(&names.fields).map(|(field, name)| {
            let qualifier = if field.role == FieldRole::Coefficient { "const " } else { "" };
            (format!("TW_GLOBAL({qualifier}{})", field.element.c_name()), name.clone())
        });
        let series =
            program.series.iter().zip(&names.series).map(|(series, name)| {
                (format!("TW_GLOBAL(const {})", series.element.c_name()), name.clone())
            });
        let sizes = SIZE_NAMES[..dimension].iter().map(|name| name.to_string());
        let strides = (0..dimension - 1).map(|d| format!("stride{d}"));
        let integers = sizes.chain(strides).chain(["level_stride".to_string(), "steps".to_string()]);
        let parameters = names.parameters.iter().map(|name| ("double".to_string(), name.clone()));
        let all: Vec<(String, String)> = fields
            .chain(series)
            .chain(integers.map(|name| ("long long".to_string(), name)))
            .chain(parameters)
            .collect();
        let names: Vec<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
        let here: Vec<&str> =
            names.iter().map(|&name| if name == "stride0" { "tw_here(stride0)" } else { name }).collect();
        Arguments {
            declared: all.iter().map(|(kind, name)| format!("{kind} {name}")).collect::<Vec<_>>().join(", "),
            passed: names.join(", "),
            passed_here: here.join(", "),
        }
    }
}

/// One kernel.
#[derive(Serialize)]
struct KernelText {
    symbol: String,
    comment: String,
    /// `256, 3`: threads of a block, and blocks that shall fit in the registers of a multiprocessor.
    bounds: String,
    blocks: Vec<BlockText>,
    bindings: Vec<BindingText>,
    body: KernelBody,
}

/// What a kernel does once it knows its place: one of them.
#[derive(Serialize, Default)]
struct KernelBody {
    direct: Option<direct::DirectText>,
    staged: Option<TileCall>,
    parts: Option<parts::PartsText>,
}

impl KernelBody {
    fn direct(text: direct::DirectText) -> Self {
        KernelBody { direct: Some(text), ..Self::default() }
    }

    fn staged(call: TileCall) -> Self {
        KernelBody { staged: Some(call), ..Self::default() }
    }

    fn parts(text: parts::PartsText) -> Self {
        KernelBody { parts: Some(text), ..Self::default() }
    }
}

/// The call of a tile function.
#[derive(Serialize)]
struct TileCall {
    function: String,
    placed_by: Vec<&'static str>,
}

#[derive(Serialize)]
struct BlockText {
    variable: &'static str,
    axis: char,
}

impl KernelText {
    fn new(kernel: &Kernel, symbol: &str, (threads, blocks): ([u32; 3], i64), body: KernelBody) -> Self {
        let threads: u32 = threads.iter().product();
        KernelText {
            symbol: symbol.to_string(),
            comment: kernel.comment.clone(),
            bounds: format!("{threads}, {blocks}"),
            blocks: (kernel.blocks.iter().rev().zip(['x', 'y', 'z']).rev())
                .map(|(block, axis)| BlockText { variable: block.variable, axis })
                .collect(),
            bindings: kernel
                .bindings
                .iter()
                .map(|binding| BindingText {
                    name: binding.name,
                    value: binding.value.to_c(),
                    comment: binding.comment.clone(),
                })
                .collect(),
            body,
        }
    }
}

/// Without blanks at the ends of lines.
fn tidy(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
