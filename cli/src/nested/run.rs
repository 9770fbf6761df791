//! `tilewright nested run`.

use super::arguments::{BackendName, RunArguments};
use super::common::{assignment, gpu_implementations, implementations, inputs, load, refused, threads};
use crate::error::{Error, Result};
use crate::outputs;
use crate::progress::Session;
use crate::report::Report;
use nested::analysis::gpu::GpuImplementation;
use nested::data::{Inputs, Output};
use nested::device::OnDevice;
use nested::emit::generated::{Mode, prepared};
use nested::emulated::{Emulated, EmulatedError};
use nested::interpret::{InterpretError, interpret};
use nested::native::{Native, RunError, options};
use nested::npy;
use nested::openmp::generate;
use nested::program::Program;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tilewright::adaptive::nested_costs::run_failed;
use toolchain::cache::Cache;
use toolchain::compiler::{Compiler, Language};
use toolchain::driver::Device;

/// A result.
#[derive(Debug, Serialize)]
pub struct ResultEntry {
    /// Its name.
    pub name: String,
    /// Its type.
    pub r#type: String,
    /// Its elements: of a sequence of rows, all of them.
    pub elements: usize,
    /// The sum of its first array.
    pub checksum: f64,
}

/// The report of `nested run`.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// The program's name.
    pub program: String,
    /// What ran it.
    pub backend: &'static str,
    /// The GPU; null elsewhere.
    pub device: Option<String>,
    /// How floating-point numbers are summed.
    pub mode: Mode,
    /// The number of threads.
    pub threads: usize,
    /// The median of the timed runs, in seconds; null for the interpreter.
    pub seconds: Option<f64>,
    /// All timed runs.
    pub seconds_all: Vec<f64>,
    /// Bytes of the arrays that kernels read and fill, each once for each kernel.
    pub bytes: Option<u64>,
    /// The results.
    pub results: Vec<ResultEntry>,
    /// Whether the results are those of the interpreter: the same bits, in fast mode close ones; null where not asked for.
    pub verified: Option<bool>,
    /// The greatest difference, relative to the greater number and 1.
    pub difference: Option<f64>,
    /// Computations with their policies.
    pub implementations: Vec<String>,
}

/// Differences up to this are those of another order of summing.
const CLOSE: f64 = 1e-9;

/// Runs a program.
///
/// # Errors
/// Wrong input, data that does not fit, a compiler that fails.
pub fn run(arguments: &RunArguments, session: &Session) -> Result<RunReport> {
    let loaded = load(&arguments.program.program)?;
    let program = &loaded.program;
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    for own in &arguments.output {
        let (name, file) = assignment(own, "--output", "NAME=FILE.npy")?;
        let known = |name: &str| {
            program.outputs.iter().any(|id| array_names(program, *id).iter().any(|own| own == name))
        };
        if !known(name) {
            let names: Vec<String> =
                program.outputs.iter().flat_map(|id| array_names(program, *id)).collect();
            let error = Error::wrong_input(format!("--output: there is no result `{name}`"));
            return Err(error.hint(format!("results are {}", names.join(", "))));
        }
        files.push((name.to_owned(), PathBuf::from(file)));
    }
    let named: Vec<(&str, &Path)> = files.iter().map(|(_, path)| ("--output", path.as_path())).collect();
    let mut read: Vec<PathBuf> = loaded.file.iter().cloned().collect();
    let given = arguments.data.input.iter().chain(&arguments.data.matrix);
    read.extend(given.filter_map(|own| own.split_once('=')).map(|(_, file)| PathBuf::from(file)));
    outputs::check(&named, &read)?;
    let data = session.stage("read", || inputs(program, &arguments.data))?;
    let (_, list, _) = prepared(program);
    let mode = if arguments.implementation.fast { Mode::Fast } else { Mode::Deterministic };
    let threads = threads(arguments.data.threads.map(|threads| threads as usize));
    let reference = || {
        interpret(program, &data).map_err(|error| match error {
            InterpretError::Input(error) => run_failed(program, RunError::Input(error)),
            InterpretError::Fault(fault) => run_failed(program, RunError::Fault(fault)),
        })
    };
    let mut seconds_all = Vec::new();
    let mut bytes = None;
    let mut policies = Vec::new();
    let mut on_device = None;
    let found = match arguments.backend {
        BackendName::Cuda => {
            let chosen = gpu_implementations(&list, &arguments.implementation)?;
            policies = chosen.iter().map(GpuImplementation::policy).collect();
            let generated = nested::cuda::generate(program, &chosen, mode, &program.name).map_err(refused)?;
            let device = Device::open(0)?;
            let compiler = Compiler::find(Language::Cxx).map_err(toolchain::Error::from)?;
            let options = (!arguments.data.no_checks, mode == Mode::Fast);
            let built = session.stage("compile", || -> Result<OnDevice> {
                OnDevice::build(program, generated, &device, &compiler, options, &Cache::open()?)
                    .map_err(|error| run_failed(program, error))
            })?;
            let repeat = arguments.repeat as usize;
            let (found, times) = session
                .stage("run", || built.run(&data, repeat))
                .map_err(|error| run_failed(program, error))?;
            on_device = Some(device.facts().name.clone());
            seconds_all = times;
            found
        }
        BackendName::Reference => session.stage("interpret", reference)?,
        BackendName::Emulator => {
            let chosen = gpu_implementations(&list, &arguments.implementation)?;
            policies = chosen.iter().map(GpuImplementation::policy).collect();
            session.stage("emulate", || emulated(program, &chosen, mode, &data, !arguments.data.no_checks))?
        }
        BackendName::OpenMp => {
            let chosen = implementations(&list, &arguments.implementation)?;
            policies = chosen.iter().map(nested::analysis::Implementation::policy).collect();
            let generated = generate(program, &chosen, mode, &program.name);
            let options = options(!arguments.data.no_checks, mode == Mode::Fast);
            let compiler = Compiler::find(Language::C).map_err(toolchain::Error::from)?;
            let built = session.stage("compile", || -> Result<Native> {
                Native::build(program, generated, &compiler, &options, &Cache::open()?)
                    .map_err(|error| run_failed(program, error))
            })?;
            let mut prepared = built.prepare(&data).map_err(|error| run_failed(program, error))?;
            for round in 0..=arguments.repeat {
                let seconds = prepared.run(threads).map_err(|error| run_failed(program, error))?;
                if round > 0 {
                    seconds_all.push(seconds);
                }
            }
            let traffic = built.generated().traffic.iter();
            bytes = Some(traffic.map(|own| prepared.bytes(&own.reads) + prepared.bytes(&own.writes)).sum());
            prepared.outputs()
        }
    };
    let (mut verified, mut difference) = (None, None);
    if arguments.verify {
        let expected = session.stage("interpret", reference)?;
        let pairs = || expected.iter().zip(&found);
        let most = pairs().map(|(a, b)| a.difference(b)).fold(0.0, f64::max);
        difference = Some(most);
        verified = Some(match mode {
            Mode::Deterministic => pairs().all(|(a, b)| a.same_bits(b)),
            Mode::Fast => most <= CLOSE,
        });
    }
    for (name, path) in &files {
        write(program, &found, name, path)?;
    }
    let shown = list.iter().zip(&policies).filter(|(own, _)| !own.sequence.is_empty());
    Ok(RunReport {
        program: program.name.clone(),
        backend: match arguments.backend {
            BackendName::Reference => "reference",
            BackendName::Emulator => "emulator",
            BackendName::OpenMp => "openmp",
            BackendName::Cuda => "cuda",
        },
        device: on_device,
        mode,
        threads,
        seconds: median(&seconds_all),
        seconds_all,
        bytes,
        results: found.iter().map(entry).collect(),
        verified,
        difference,
        implementations: shown.map(|(own, policy)| format!("{}: {policy}", own.name)).collect(),
    })
}

/// The results of the emulator.
fn emulated(
    program: &Program,
    chosen: &[GpuImplementation],
    mode: Mode,
    data: &Inputs,
    checked: bool,
) -> Result<Vec<Output>> {
    let generated = nested::cuda::generate(program, chosen, mode, &program.name).map_err(refused)?;
    let compiler = Compiler::find(Language::Cxx).map_err(toolchain::Error::from)?;
    let built = Emulated::build(program, generated, &compiler, checked, &Cache::open()?)
        .map_err(|error| run_failed(program, error))?;
    built.run(data, 0, 0).map_err(|error| match error {
        EmulatedError::Run(error) => run_failed(program, error),
        EmulatedError::Violated(violated) => Error::Request {
            kind: crate::error::Kind::Failed,
            message: violated.to_string(),
            hints: Vec::new(),
        },
    })
}

/// The median of some numbers; none of none.
pub fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

/// The names of a result's arrays.
pub fn array_names(program: &Program, id: usize) -> Vec<String> {
    let variable = program.variable(id);
    let count = variable.ty.leaves().len();
    let nested = variable.ty.element().is_some_and(nested::program::Type::has_sequence);
    let name = &variable.name;
    let leaves = (0..count).map(|place| if count > 1 { format!("{name}_{place}") } else { name.clone() });
    leaves.chain(nested.then(|| format!("{name}_rows"))).collect()
}

fn write(program: &Program, found: &[Output], name: &str, path: &Path) -> Result<()> {
    for (output, &id) in found.iter().zip(&program.outputs) {
        let names = array_names(program, id);
        let Some(place) = names.iter().position(|own| own == name) else { continue };
        let widths = output.ty.leaves();
        let wrong = |error: npy::FileError| Error::Request {
            kind: crate::error::Kind::Failed,
            message: error.to_string(),
            hints: Vec::new(),
        };
        return match (output.leaves.get(place), &output.offsets) {
            (Some(array), _) => {
                npy::write(path, array, widths.get(place).map_or(1, |(_, width)| *width)).map_err(wrong)
            }
            (None, Some(offsets)) => {
                npy::write(path, &nested::data::Array::I64(offsets.clone()), 1).map_err(wrong)
            }
            (None, None) => Ok(()),
        };
    }
    Ok(())
}

fn entry(output: &Output) -> ResultEntry {
    let numbers = output.leaves.first().map(nested::data::Array::numbers).unwrap_or_default();
    let width = output.ty.leaves().first().map_or(1, |(_, width)| *width);
    ResultEntry {
        name: output.name.clone(),
        r#type: output.ty.to_string(),
        elements: numbers.len() / width,
        // Not `sum`, whose result for nothing is -0.
        checksum: numbers.iter().fold(0.0, |sum, number| sum + number),
    }
}

impl Report for RunReport {
    const SCHEMA: &'static str = "tilewright.nested.run/1";

    fn text(&self) -> String {
        let result = |own: &ResultEntry| {
            format!("{}: {}, {} elements, sum {}", own.name, own.r#type, own.elements, own.checksum)
        };
        let results: Vec<String> = self.results.iter().map(result).collect();
        let mut pairs = vec![("program", self.program.clone()), ("backend", self.backend.to_owned())];
        if let Some(seconds) = self.seconds {
            let how = match &self.device {
                Some(device) => format!("{device}, arrays on it"),
                None => format!("{} threads", self.threads),
            };
            pairs.push(("time", format!("{seconds:.6} s (median of {}, {how})", self.seconds_all.len())));
            if let Some(bytes) = self.bytes {
                pairs.push((
                    "moved",
                    format!("{bytes} bytes, {:.2} GB/s", bytes as f64 / seconds.max(1e-9) / 1e9),
                ));
            }
            pairs.push(("policies", self.implementations.join("\n")));
        }
        pairs.push(("results", results.join("\n")));
        if let (Some(verified), Some(difference)) = (self.verified, self.difference) {
            let how = if verified { "equal to the interpreter" } else { "DIFFERENT from the interpreter" };
            pairs.push(("check", format!("{how} (greatest difference {difference:e})")));
        }
        crate::report::pairs(&pairs)
    }

    fn passed(&self) -> bool {
        self.verified != Some(false)
    }
}
