//! From a proved plan to files for others to build: source code, a header, a build file, and what is known of them.

mod facts;

pub use facts::{
    ChoiceFacts, CompiledFacts, EntryPoint, Facts, FieldFacts, HostLoop, KernelFacts, ParameterFacts,
    SeriesFacts,
};

use crate::adaptive::Portfolio;
use crate::c_program::{self, CSource};
use crate::contract::Liberties;
use crate::error::{Error, Result};
use crate::finalists::ARCHITECTURES;
use crate::load::Stencil;
use crate::observer::Observer;
use crate::output::OutputFile;
use crate::ranks::{GhostFacts, Ranks};
use hhc_codegen::backend::cuda::{CudaOptions, DeviceLimits};
use hhc_codegen::backend::{self, GeneratedFile};
use hhc_codegen::pipeline::Planned;
use hhc_codegen::plan::Kernel;
use hhc_codegen::strategy::Target;
use hhc_codegen::{KernelPlan, plan_counts};
use polyhedral::program::{Field, FieldId, FieldRole};
use toolchain::cache::Cache;
use toolchain::nvrtc::Nvrtc;

/// What is wanted of the code.
#[derive(Clone, Copy)]
pub struct EmitRequest<'a> {
    /// Its language.
    pub target: Target,
    /// The device that it is for.
    pub limits: &'a DeviceLimits,
    /// Grid extents and time steps that launches are counted for.
    pub size: Option<&'a [i64]>,
    /// Time steps that launches are counted for.
    pub steps: Option<i64>,
    /// The C program that the tiled code is put into.
    pub c: Option<CSource<'a>>,
    /// Whether a library for ranks of MPI is wanted, and how many of them it takes where its caller does not say.
    pub ranks: Option<&'a Ranks>,
}

/// Files, and what is known of them.
#[derive(Debug, Clone)]
pub struct Emitted {
    /// The files. A C program takes the place of the program that checks and times the code, with its build file.
    pub files: Vec<OutputFile>,
    /// What is known of the code.
    pub facts: Facts,
    /// Ghost zones of the library for ranks.
    pub ghosts: Option<GhostFacts>,
}

/// The files of a plan.
///
/// # Errors
/// A plan that does not fit the device; text that NVRTC refuses; what the C program does not allow.
pub fn emit(plan: &KernelPlan, request: &EmitRequest<'_>) -> Result<Emitted> {
    let (generated, kernels) = generate(plan, request.target, request.limits)?;
    let text = |file: GeneratedFile| OutputFile { name: file.name.into(), bytes: file.text.into_bytes() };
    let mut files: Vec<OutputFile> = generated.into_iter().map(text).collect();
    if let Some(source) = &request.c {
        let name = &plan.program.name;
        let library = ["h", "c", "cu"].map(|ending| format!("{name}.{ending}"));
        files.retain(|file| library.iter().any(|own| file.name.as_os_str() == own.as_str()));
        files.splice(0..0, c_program::rewritten(source, request.target)?);
    }
    let ghosts = match request.ranks {
        None => None,
        Some(ranks) => {
            let own = match request.target {
                Target::OpenMp => backend::openmp::generate_ranks(plan, ranks.counts())?,
                Target::Cuda => {
                    let options = CudaOptions { limits: request.limits.clone() };
                    backend::cuda::generate_ranks(plan, &options, ranks.counts())?
                }
            };
            files.retain(|file| own.files.iter().all(|other| file.name.as_os_str() != other.name.as_str()));
            files.extend(own.files.into_iter().map(text));
            Some(GhostFacts::new(&own.ghosts, own.proof, own.lines))
        }
    };
    let mut facts = facts(plan, request, kernels);
    if ghosts.is_some() {
        facts.entry_points.extend(EntryPoint::of_ranks(&plan.program.name));
    }
    Ok(Emitted { files, facts, ghosts })
}

/// The files of a portfolio, as [`emit`] has them for one tiling, and the proof of each of its tilings.
///
/// # Errors
/// A plan that is refused.
pub fn emit_portfolio(
    stencil: &Stencil,
    portfolio: &Portfolio,
    limits: &DeviceLimits,
    observer: &dyn Observer,
) -> Result<(Emitted, Vec<Planned>)> {
    let (files, planned) = portfolio.emit(stencil, observer)?;
    let [first, ..] = &planned[..] else { return Err(Error::internal("a portfolio without tilings")) };
    let kernels = first.plan.kernels.iter().map(kernel_facts).collect();
    let request =
        EmitRequest { target: Target::OpenMp, limits, size: None, steps: None, c: None, ranks: None };
    let mut facts = facts(&first.plan, &request, kernels);
    let name = &stencil.program.name;
    facts.entry_points.push(EntryPoint::variant(name));
    facts.adaptive = Some(ChoiceFacts::new(portfolio, name));
    Ok((Emitted { files, facts, ghosts: None }, planned))
}

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

/// The files, and what is known of the kernels.
fn generate(
    plan: &KernelPlan,
    target: Target,
    limits: &DeviceLimits,
) -> Result<(Vec<GeneratedFile>, Vec<KernelFacts>)> {
    let mut facts: Vec<KernelFacts> = plan.kernels.iter().map(kernel_facts).collect();
    let files = match target {
        Target::OpenMp => backend::openmp::generate(plan)?,
        Target::Cuda => {
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

fn facts(plan: &KernelPlan, request: &EmitRequest<'_>, kernels: Vec<KernelFacts>) -> Facts {
    let EmitRequest { target, size, steps, .. } = *request;
    let program = &plan.program;
    Facts {
        stencil: program.name.clone(),
        target: match target {
            Target::OpenMp => "openmp",
            Target::Cuda => "cuda",
        },
        prefix: None,
        entry_points: EntryPoint::all(&program.name, target, request.c.is_some()),
        strategy: plan.strategy,
        tile: plan.tile.clone(),
        tile_text: plan.tile.to_string(),
        legal: true,
        arithmetic: Liberties::of(program, u64::try_from(steps.unwrap_or(1)).unwrap_or(1)),
        launches: steps.and_then(|steps| plan_counts::launches(plan, size, steps)),
        size: size.map(<[i64]>::to_vec),
        steps,
        launches_per_iteration: plan.launches.len(),
        host_loop: HostLoop {
            variable: plan.outer.variable,
            low: plan.outer.low.to_string(),
            high: plan.outer.high.to_string(),
        },
        shared_bytes_per_block: kernels.iter().filter_map(|kernel| kernel.shared_bytes).max(),
        threads_per_block: kernels.iter().filter_map(|kernel| kernel.threads).max(),
        adaptive: None,
        kernels,
        fields: fields(plan),
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

fn kernel_facts(kernel: &Kernel) -> KernelFacts {
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

fn fields(plan: &KernelPlan) -> Vec<FieldFacts> {
    let field = |(number, field): (usize, &Field)| {
        let (role, levels, slots) = match field.role {
            _ if plan.witnesses.contains(&number) => ("witness", 1, 1),
            FieldRole::State { levels, slots } => ("state", levels, slots),
            FieldRole::Coefficient => ("coefficient", 1, 1),
        };
        let spare = plan.slots(FieldId(number)) - field.role.slots() as i64;
        let spare_slots = (spare > 0).then_some(spare as usize);
        FieldFacts { name: field.name.clone(), dtype: field.element.name(), role, levels, slots, spare_slots }
    };
    plan.program.fields.iter().enumerate().map(field).collect()
}
