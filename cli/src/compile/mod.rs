//! `tilewright compile`: source code, a header, a build file and `manifest.json`.

pub mod arguments;

use crate::arguments::TargetName;
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{json, load, plan};
use arguments::CompileArguments;
use c_frontend::CProgram;
use c_frontend::rewrite::{self, OutputFile, RewriteError};
use execution::cache::Cache;
use execution::cuda::Nvrtc;
use execution::output_folder::{NewFile, OutputFolder};
use hhc_codegen::backend::cuda::{CudaOptions, DeviceLimits};
use hhc_codegen::backend::{self, GeneratedFile};
use hhc_codegen::{KernelPlan, TileSizes, plan_counts};
use polyhedral::legality::Proof;
use polyhedral::program::{FieldRole, Program};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tilewright::choice::{self, Wish};
use tilewright::machines;
use tilewright::text;

/// The name of the file that describes the others.
const MANIFEST: &str = "manifest.json";
/// Its `schema`.
const MANIFEST_SCHEMA: &str = "tilewright.manifest/1";

/// The report of `compile`.
#[derive(Debug, Serialize)]
pub struct CompileReport {
    /// What the manifest says.
    #[serde(flatten)]
    pub facts: Facts,
    /// The folder, as an absolute path.
    pub directory: PathBuf,
    /// The files, as absolute paths; the manifest and the list of Tilewright's own files in the folder come last.
    pub files: Vec<PathBuf>,
    /// Who chose the tile sizes.
    pub chosen_by: String,
    /// isl's proof that the code is legal.
    pub proof: Proof,
    /// The stage that `--dump` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// What is known of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct Facts {
    /// Name of the stencil.
    pub stencil: String,
    /// Language.
    pub target: &'static str,
    /// What `--prefix` put before the names of everything; null without.
    pub prefix: Option<String>,
    /// What other code calls.
    pub entry_points: Vec<EntryPoint>,
    /// Tiling strategy.
    pub strategy: &'static str,
    /// Tile sizes by name.
    pub tile: TileSizes,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: String,
    /// Whether the tiling was proved legal; there is no code that was not.
    pub legal: bool,
    /// Grid extents that `launches` is for.
    pub size: Option<Vec<i64>>,
    /// Time steps that `launches` is for.
    pub steps: Option<i64>,
    /// Number of launches (OpenMP: of parallel regions); null where it depends on what was not given.
    pub launches: Option<u64>,
    /// Launches in one iteration of the host's loop over `host_loop`.
    pub launches_per_iteration: usize,
    /// The host's loop: its variable and inclusive bounds, as C expressions.
    pub host_loop: HostLoop,
    /// Bytes of shared memory of a block, the most of any kernel; null without shared memory.
    pub shared_bytes_per_block: Option<u64>,
    /// Threads of a block, the most of any kernel; null without thread blocks.
    pub threads_per_block: Option<u64>,
    /// The kernels.
    pub kernels: Vec<KernelFacts>,
    /// The fields, in the order of the arguments.
    pub fields: Vec<FieldFacts>,
    /// The series, in the order of the arguments, which is after the fields.
    pub series: Vec<SeriesFacts>,
    /// The parameters and their default values, in the order of the arguments.
    pub parameters: Vec<ParameterFacts>,
}

/// A function for other code to call.
#[derive(Debug, Clone, Serialize)]
pub struct EntryPoint {
    /// Its name for the linker.
    pub symbol: String,
    /// The header that declares it and says how it is called.
    pub header: String,
    /// What it does.
    pub description: &'static str,
}

impl EntryPoint {
    /// All of a program; those around the tiled loops of a C program, too.
    fn all(name: &str, target: TargetName, c: bool) -> Vec<EntryPoint> {
        let run: &[(&str, &str)] = match target {
            TargetName::OpenMp => &[
                ("_run", "computes time steps on dense arrays"),
                ("_run_strided", "computes time steps on arrays with padding"),
                ("_invoke", "the same with arguments that are alike for all programs"),
            ],
            TargetName::Cuda => &[
                ("_run_cuda", "queues time steps on dense arrays in device memory"),
                ("_run_cuda_strided", "queues time steps on arrays with padding"),
            ],
        };
        let glue: &[(&str, &str)] = &[
            ("_open", "makes the buffers of the rewritten program"),
            ("_compute", "computes their time steps"),
            ("_close", "frees them"),
        ];
        let point = |header: String| {
            move |&(ending, description): &(&str, &'static str)| EntryPoint {
                symbol: format!("{name}{ending}"),
                header: header.clone(),
                description,
            }
        };
        let of_glue = glue.iter().filter(|_| c).map(point(format!("{name}_glue.h")));
        run.iter().map(point(format!("{name}.h"))).chain(of_glue).collect()
    }
}

/// A loop of the host.
#[derive(Debug, Clone, Serialize)]
pub struct HostLoop {
    /// Loop variable.
    pub variable: &'static str,
    /// First value.
    pub low: String,
    /// Last value.
    pub high: String,
}

/// A kernel of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct KernelFacts {
    /// Its name in the plan.
    pub name: String,
    /// Its name in the CUDA text; null elsewhere.
    pub symbol: Option<String>,
    /// What it does.
    pub description: String,
    /// Dimensions of its grid of blocks.
    pub block_dimensions: usize,
    /// Rows that one block computes, each followed by a barrier, in one sub-tile; null where it varies.
    pub rows_per_sub_tile: Option<i64>,
    /// Bytes of shared memory of a block; null without shared memory.
    pub shared_bytes: Option<u64>,
    /// Threads of a block; null without thread blocks.
    pub threads: Option<u64>,
    /// What NVIDIA's compiler says of the kernel, per compute capability; empty where NVRTC is missing.
    pub compiled: Vec<CompiledFacts>,
}

/// A kernel compiled for one compute capability: the compiler's own figures.
#[derive(Debug, Clone, Serialize)]
pub struct CompiledFacts {
    /// `sm_80`
    pub architecture: String,
    /// Version of NVRTC.
    pub compiler: String,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes per thread that were spilled and loaded back.
    pub spill_bytes: u64,
    /// Bytes of local memory per thread.
    pub local_bytes: u64,
    /// Threads of a block that the registers allow.
    pub max_threads: u32,
}

/// Compute capabilities that the manifest has figures for.
const ARCHITECTURES: [u32; 3] = [70, 80, 90];

/// Adds the compiler's figures of all kernels. Without NVRTC there are none.
///
/// # Errors
/// What NVRTC says of text that it cannot compile: an error of ours.
fn add_compiled(kernels: &mut [KernelFacts], source: &str, name: &str) -> Result<()> {
    let cache = Cache::open()?;
    for (architecture, nvrtc, compiled) in Nvrtc::compile_for_each(&ARCHITECTURES, source, name, &cache)? {
        for kernel in kernels.iter_mut() {
            let own = compiled.kernels.iter().find(|own| Some(&own.kernel) == kernel.symbol.as_ref());
            kernel.compiled.extend(own.map(|own| CompiledFacts {
                architecture: format!("sm_{architecture}"),
                compiler: format!("NVRTC {}", nvrtc.version()),
                registers: own.registers,
                spill_bytes: own.spill_bytes,
                local_bytes: own.local_bytes,
                max_threads: own.max_threads,
            }));
        }
    }
    Ok(())
}

/// A field of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct FieldFacts {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: &'static str,
    /// `state` or `coefficient`.
    pub role: &'static str,
    /// Initial time levels that the caller gives.
    pub levels: usize,
    /// Time levels that are stored.
    pub slots: usize,
}

/// A series of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct SeriesFacts {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: &'static str,
    /// The time of its first element.
    pub first: i64,
    /// How many more elements than time steps it has.
    pub reach: i64,
}

/// A parameter of the generated code.
#[derive(Debug, Clone, Serialize)]
pub struct ParameterFacts {
    /// Name.
    pub name: String,
    /// Usual value.
    pub default: f64,
}

#[derive(Serialize)]
struct Manifest<'a> {
    tilewright: &'static str,
    #[serde(flatten)]
    facts: &'a Facts,
    files: Vec<String>,
}

/// Writes the code.
///
/// # Errors
/// Wrong input, an infeasible tiling, or a folder that cannot be written.
pub fn compile(arguments: &CompileArguments, session: &Session) -> Result<CompileReport> {
    plan::dump_refused(arguments.plan.dump, session);
    let mut stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let mut c = stencil.c.take();
    let mut inputs = stencil.files.clone();
    inputs.extend(arguments.with.iter().cloned());
    inputs.extend(arguments.machine.as_deref().and_then(machines::file));
    let folder = OutputFolder::new(&arguments.output, &inputs, arguments.force)?;
    if c.is_some() && arguments.plan.dtype.is_some() {
        return Err(Error::wrong_input(
            "--dtype does not fit a C program, whose arrays have their own types",
        )
        .hint("change the type in the program, by a macro: -DTYPE=float"));
    }
    if c.is_none() && !arguments.with.is_empty() {
        return Err(Error::wrong_input("--with is for sources of a C program"));
    }
    let size = arguments.size.as_ref().map(|size| size.0.clone());
    if let Some(size) = &size {
        execution::layout::grid_points(&stencil.program, size)?;
    }
    let machine = arguments.machine.as_deref().map(machines::machine).transpose()?;
    // The sizes of a C program are known when it runs; a search for a guess of them would take seconds.
    let search = c.is_none() || size.is_some();
    let wish = Wish {
        size: size.as_deref(),
        steps: arguments.steps,
        machine: machine.as_ref(),
        threads: None,
        search,
    };
    let chosen =
        choice::choose(&stencil, &arguments.plan.tiling(), arguments.target.target(), &wish, session)?;
    // Only now: machines know stencils by their own names.
    let name = stencil.program.name.clone();
    if let Some(prefix) = &arguments.prefix {
        stencil = stencil.renamed(prefixed(prefix, &name));
    }
    if let Some(c) = &mut c {
        c.program = Arc::clone(&stencil.program);
    }
    let planned = tilewright::plan(&stencil, &chosen.tiling, arguments.target.target(), session)?;
    let (files, kernels) = session.stage("generate", || {
        let (files, kernels) = generate(&planned.plan, arguments.target, &chosen.limits)?;
        Ok::<_, Error>((output_files(files, c.as_deref(), arguments)?, kernels))
    })?;
    let facts = Facts {
        stencil: name,
        prefix: arguments.prefix.clone(),
        entry_points: EntryPoint::all(&stencil.program.name, arguments.target, c.is_some()),
        ..facts(&planned.plan, arguments.target, kernels, size, arguments.steps)
    };
    let (directory, files) = session.stage("write", || write(&folder, &facts, &files))?;
    Ok(CompileReport {
        dump: arguments.plan.dump.map(|stage| plan::dump(stage, &planned)),
        chosen_by: chosen.by,
        facts,
        directory,
        files,
        proof: planned.proof,
    })
}

/// All files. A C program takes the place of the program that checks and times the code, with its build file.
fn output_files(
    generated: Vec<GeneratedFile>,
    c: Option<&CProgram>,
    arguments: &CompileArguments,
) -> Result<Vec<OutputFile>> {
    let text = |file: GeneratedFile| OutputFile { name: file.name.into(), bytes: file.text.into_bytes() };
    let Some(c) = c else { return Ok(generated.into_iter().map(text).collect()) };
    let name = &c.program.name;
    let library = [format!("{name}.h"), format!("{name}.c"), format!("{name}.cu")];
    let mut files: Vec<OutputFile> =
        generated.into_iter().filter(|file| library.contains(&file.name)).map(text).collect();
    let target = match arguments.target {
        TargetName::OpenMp => rewrite::Target::OpenMp,
        TargetName::Cuda => rewrite::Target::Cuda,
    };
    let (path, options) = (Path::new(&arguments.plan.spec), arguments.plan.c.options());
    let rewritten =
        rewrite::rewrite(c, path, &options, &arguments.with, target).map_err(|error| match error {
            RewriteError::File { .. } => Error::wrong_input(error.to_string()),
            RewriteError::Name { what: "macro", .. } => {
                Error::wrong_input(error.to_string()).hint("define the macro in the program instead")
            }
            RewriteError::Name { .. } => Error::wrong_input(error.to_string()).hint("choose another name"),
            RewriteError::Template(_) => Error::internal(error.to_string()),
        })?;
    files.splice(0..0, rewritten);
    Ok(files)
}

/// The files, and what is known of the kernels.
fn generate(
    plan: &KernelPlan,
    target: TargetName,
    limits: &DeviceLimits,
) -> Result<(Vec<GeneratedFile>, Vec<KernelFacts>)> {
    let mut facts: Vec<KernelFacts> = plan.kernels.iter().map(kernel_facts).collect();
    let files = match target {
        TargetName::OpenMp => backend::openmp::generate(plan)?,
        TargetName::Cuda => {
            let cuda = backend::cuda::generate(plan, &CudaOptions { limits: limits.clone() })?;
            for (facts, kernel) in facts.iter_mut().zip(&cuda.kernels) {
                facts.symbol = Some(kernel.symbol.clone());
                facts.threads = Some(kernel.threads.iter().map(|&threads| u64::from(threads)).product());
                facts.shared_bytes = Some(kernel.shared_bytes.into());
            }
            add_compiled(&mut facts, &cuda.device_source, &format!("{}.cu", plan.program.name))?;
            cuda.files
        }
    };
    Ok((files, facts))
}

fn facts(
    plan: &KernelPlan,
    target: TargetName,
    kernels: Vec<KernelFacts>,
    size: Option<Vec<i64>>,
    steps: Option<i64>,
) -> Facts {
    let program = &plan.program;
    Facts {
        stencil: program.name.clone(),
        target: target.name(),
        prefix: None,
        entry_points: Vec::new(),
        strategy: plan.strategy,
        tile: plan.tile.clone(),
        tile_text: plan.tile.to_string(),
        legal: true,
        launches: steps.and_then(|steps| plan_counts::launches(plan, size.as_deref(), steps)),
        size,
        steps,
        launches_per_iteration: plan.launches.len(),
        host_loop: HostLoop {
            variable: plan.outer.variable,
            low: plan.outer.low.to_string(),
            high: plan.outer.high.to_string(),
        },
        shared_bytes_per_block: kernels.iter().filter_map(|kernel| kernel.shared_bytes).max(),
        threads_per_block: kernels.iter().filter_map(|kernel| kernel.threads).max(),
        kernels,
        fields: fields(program),
        series: (program.series.iter())
            .map(|series| SeriesFacts {
                name: series.name.clone(),
                dtype: series.element.name(),
                first: series.first,
                reach: series.length(0),
            })
            .collect(),
        parameters: program
            .parameters
            .iter()
            .map(|parameter| ParameterFacts { name: parameter.name.clone(), default: parameter.default })
            .collect(),
    }
}

fn kernel_facts(kernel: &hhc_codegen::plan::Kernel) -> KernelFacts {
    let groups = kernel.rows.high.constant().zip(kernel.rows.low.constant());
    KernelFacts {
        name: kernel.name.clone(),
        symbol: None,
        description: kernel.comment.clone(),
        block_dimensions: kernel.blocks.len(),
        rows_per_sub_tile: groups.map(|(high, low)| (high - low + 1) * kernel.instances.len() as i64),
        shared_bytes: None,
        compiled: Vec::new(),
        threads: None,
    }
}

fn fields(program: &Program) -> Vec<FieldFacts> {
    let field = |field: &polyhedral::program::Field| {
        let (role, levels, slots) = match field.role {
            FieldRole::State { levels, slots } => ("state", levels, slots),
            FieldRole::Coefficient => ("coefficient", 1, 1),
        };
        FieldFacts { name: field.name.clone(), dtype: field.element.name(), role, levels, slots }
    };
    program.fields.iter().map(field).collect()
}

/// The name of everything: the prefix, an underscore, and the stencil's own name.
fn prefixed(prefix: &str, stencil: &str) -> String {
    format!("{}_{stencil}", prefix.trim_end_matches('_'))
}

/// Writes all files, the manifest last. Returns the absolute paths of the folder and of the files.
fn write(folder: &OutputFolder, facts: &Facts, files: &[OutputFile]) -> Result<(PathBuf, Vec<PathBuf>)> {
    let manifest = json::document(
        MANIFEST_SCHEMA,
        &Manifest {
            tilewright: env!("CARGO_PKG_VERSION"),
            facts,
            files: files.iter().map(|file| file.name.to_string_lossy().into_owned()).collect(),
        },
    );
    let manifest = OutputFile { name: MANIFEST.into(), bytes: (manifest + "\n").into_bytes() };
    let all: Vec<NewFile<'_>> =
        files.iter().chain([&manifest]).map(|file| (file.name.as_path(), file.bytes.as_slice())).collect();
    Ok(folder.write(&all)?)
}

impl Report for CompileReport {
    const SCHEMA: &'static str = "tilewright.compile/1";

    fn text(&self) -> String {
        let facts = &self.facts;
        let launches = match (facts.launches, facts.steps) {
            (Some(launches), Some(steps)) => {
                format!("{launches} for {}", text::count(steps as u64, "time step", "time steps"))
            }
            _ => format!(
                "{} for each {} in {} ..= {}",
                facts.launches_per_iteration,
                facts.host_loop.variable,
                facts.host_loop.low,
                facts.host_loop.high
            ),
        };
        let kernels: Vec<&str> = facts.kernels.iter().map(|kernel| kernel.description.as_str()).collect();
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let mut lines = vec![
            ("stencil", facts.stencil.clone()),
            ("target", facts.target.to_owned()),
            ("strategy", facts.strategy.to_owned()),
            ("tile", format!("{}\n{}", plan::tile_text(facts.strategy, &facts.tile), self.chosen_by)),
            ("proof", plan::proof_text(&self.proof)),
            ("kernels", kernels.join("\n")),
            ("launches", launches),
        ];
        if let Some(bytes) = facts.shared_bytes_per_block {
            lines.push(("shared memory", format!("{} per block", report::bytes(bytes as f64))));
        }
        if let Some(threads) = facts.threads_per_block {
            lines.push(("threads", format!("{threads} per block")));
        }
        if facts.target == "cuda" {
            lines.push(("registers", registers_text(&facts.kernels)));
        }
        lines.push(("files", files.join("\n")));
        let dump = self.dump.as_ref().map(|dump| dump.clone() + "\n").unwrap_or_default();
        dump + &report::pairs(&lines)
    }
}

/// Registers and spills of the kernels, one line for each compute capability.
fn registers_text(kernels: &[KernelFacts]) -> String {
    let architectures = kernels.first().map_or(&[][..], |kernel| &kernel.compiled[..]);
    if architectures.is_empty() {
        return "not known: NVRTC was not found (scripts/get-nvrtc.sh fetches it)".to_owned();
    }
    let line = |(index, first): (usize, &CompiledFacts)| {
        let own = || kernels.iter().filter_map(|kernel| kernel.compiled.get(index));
        let registers: Vec<String> = own().map(|own| own.registers.to_string()).collect();
        let spilled: u64 = own().map(|own| own.spill_bytes).sum();
        format!(
            "{} ({}): {} per thread, {spilled} bytes spilled",
            first.architecture,
            first.compiler,
            registers.join(", ")
        )
    };
    architectures.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}
