//! `tilewright calibrate`: what the models must know about this machine, measured.

use crate::arguments::{CArguments, CalibratedBackend, ElementTypeName};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::{load, outputs};
use clap::Args;
use cost_models::machine::{Energy, Facts, Machine};
use execution::calibrate::gpu::{DeviceBench, GpuRequest};
use execution::calibrate::{self, Calibrated, CpuRequest, Effort};
use polyhedral::program::Program;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tilewright::choice::machine_of_device;
use tilewright::text;
use tilewright::{machines, state};
use toolchain::driver::{Device, DeviceFacts};

/// Arguments of `calibrate`.
#[derive(Debug, Clone, Args)]
pub struct CalibrateArguments {
    /// What to measure
    #[arg(long, value_name = "NAME", required_unless_present = "mpi")]
    pub backend: Option<CalibratedBackend>,
    /// Measure messages between the first and the last of the ranks of MPI that mpirun started, and add what they cost to the
    /// machine
    #[arg(long, conflicts_with = "backend")]
    pub mpi: bool,
    /// The machine file to write, or @NAME for one in the state folder, as --machine takes it
    #[arg(short, long, value_name = "FILE.toml|@NAME", default_value = state::HERE)]
    pub output: PathBuf,
    /// A stencil whose body to measure, shipped or a file; may be repeated. Nine shipped ones where not given
    #[arg(long, value_name = "SPEC")]
    pub stencil: Vec<String>,
    /// Name of the machine; that of the file where not given
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A GPU's published facts (lanes, area, power); the shipped machine of its name where not given. With --mpi the machine
    /// of each rank; the file to write, where that is there
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
    /// Number of threads; all cores where not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub threads: Option<u64>,
    /// Measure for a second or two only: rows, and lines by the size of a working set; what tiles pay for lines from memory is
    /// estimated
    #[arg(long)]
    pub quick: bool,
    /// Measurements of each kind
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 7, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub rounds: u64,
}

/// Stencils that are measured where none is named: those of the paper, and the kinds of rows that differ most.
const STENCILS: [&str; 9] = [
    "heat2d",
    "jacobi2d",
    "gradient2d",
    "laplacian2d",
    "heat3d",
    "laplacian3d",
    "star2d2r",
    "jacobi1d",
    "heat1d",
];

/// Errors of the fit of rows from which on they are worth a note.
const LARGE_ERROR: f64 = 0.15;

/// The report of `calibrate`.
#[derive(Debug, Serialize)]
pub struct CalibrateReport {
    /// The machine file.
    pub file: PathBuf,
    /// What was measured on.
    pub backend: &'static str,
    /// Name of the machine.
    pub machine: String,
    /// Seconds per word of 4 bytes between memory and a core or multiprocessor, all of them at work.
    pub l_s_per_word: f64,
    /// Seconds at the end of a row of a tile: a return from a function, or a barrier.
    pub tau_sync_s: f64,
    /// Seconds per parallel region.
    pub t_sync_s: f64,
    /// Stencils whose bodies were measured.
    pub stencils: Vec<Body>,
    /// Joules per event, and watts; null where no counter could be read.
    pub energy: Option<Energy>,
    /// Measurements that other programs disturbed; they were repeated.
    pub disturbed_rounds: usize,
    /// Wall time.
    pub elapsed_s: f64,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// The costs of one stencil.
#[derive(Debug, Serialize)]
pub struct Body {
    /// Name.
    pub stencil: String,
    /// Element type.
    pub dtype: String,
    /// Seconds of one point of one statement on one lane.
    pub c_iter_s: f64,
    /// Seconds of one point of one statement on one core or multiprocessor.
    pub point_s: f64,
    /// Root of the mean squared relative error with which calls, runs and blocks explain the measurements; null on a
    /// GPU.
    pub relative_error: Option<f64>,
    /// Median relative dispersion.
    pub dispersion: f64,
}

/// Calibrates.
///
/// # Errors
/// Wrong input; a missing device or compiler.
pub fn calibrate(arguments: &CalibrateArguments, session: &Session) -> Result<CalibrateReport> {
    let output = state::machine_to_write(&arguments.output)?;
    let arguments = &CalibrateArguments { output, ..arguments.clone() };
    match arguments.backend {
        Some(CalibratedBackend::Cuda) => cuda(arguments, session),
        Some(CalibratedBackend::OpenMp) | None => openmp(arguments, session),
    }
}

/// Stencils to measure where none are named.
///
/// # Errors
/// Wrong stencils, and an output that is one of their files.
fn programs(arguments: &CalibrateArguments) -> Result<Vec<Arc<Program>>> {
    let names: Vec<String> = match arguments.stencil.as_slice() {
        [] => STENCILS.map(str::to_owned).to_vec(),
        some => some.to_vec(),
    };
    let mut files: Vec<PathBuf> = arguments.machine.as_deref().and_then(machines::file).into_iter().collect();
    let mut programs = Vec::new();
    for name in &names {
        let loaded = load::load(name, arguments.dtype, &CArguments::default())?;
        files.extend(loaded.files);
        programs.push(loaded.program);
    }
    outputs::check(&[("--output", &arguments.output)], &files)?;
    Ok(programs)
}

/// The machine's published facts: those of the machine that is named, else of the shipped one that the device is.
fn published(arguments: &CalibrateArguments, device: &DeviceFacts) -> Result<Machine> {
    let mut machine = match &arguments.machine {
        Some(spec) => machines::machine(spec)?,
        None => machine_of_device(&device.name).ok_or_else(|| {
            Error::infeasible(format!("no facts of `{}` are shipped (lanes, area, power)", device.name)).hint(
                "write a machine file with what is published about it, like machines/h100.toml, and name it with --machine",
            )
        })?,
    };
    if let Facts::Gpu(facts) = &mut machine.facts {
        facts.n_sm = device.multiprocessors.into();
        facts.compute_capability = device.architecture.into();
    } else {
        return Err(Error::infeasible(format!("machine `{}` is a CPU, and the device a GPU", machine.name)));
    }
    let name = arguments.output.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    machine.name = arguments.name.clone().or(name).unwrap_or(machine.name);
    machine.description = device.name.clone();
    Ok(machine)
}

fn cuda(arguments: &CalibrateArguments, session: &Session) -> Result<CalibrateReport> {
    let start = std::time::Instant::now();
    if arguments.threads.is_some() {
        return Err(Error::infeasible("--threads is for a CPU"));
    }
    if arguments.quick {
        return Err(Error::infeasible("--quick is for a CPU"));
    }
    let programs = programs(arguments)?;
    let device = session.stage("device", || Device::open(0))?;
    let facts = device.facts().clone();
    let request = GpuRequest {
        machine: published(arguments, &facts)?,
        programs,
        rounds: arguments.rounds as usize,
        source: format!(
            "tilewright {} calibrate --backend cuda on {}, driver for CUDA {}",
            env!("CARGO_PKG_VERSION"),
            facts.name,
            facts.driver_version
        ),
    };
    let calibrated = session.stage_of("calibrate", 1000, |progress| {
        let mut bench = DeviceBench::new(device)?;
        calibrate::gpu::gpu(&request, &mut bench, &mut shown(&|part| progress.done((1000.0 * part) as i64)))
    })?;
    finished(arguments, &calibrated, "cuda", Vec::new(), start)
}

/// What is being measured goes to stderr when it changes.
fn shown(progress: &dyn Fn(f64)) -> impl FnMut(&str, f64) {
    let mut last = String::new();
    move |what, part| {
        progress(part);
        if last != what {
            report::print_stderr(&format!("measuring {what}"));
            last = what.to_owned();
        }
    }
}

/// Writes the file, and reports.
fn finished(
    arguments: &CalibrateArguments,
    calibrated: &Calibrated,
    backend: &'static str,
    mut notes: Vec<String>,
    start: std::time::Instant,
) -> Result<CalibrateReport> {
    let machine = &calibrated.machine;
    execution::output_file::write(&arguments.output, |file| file.write_all(machine.to_toml().as_bytes()))?;
    if machine.calibration.as_ref().is_none_or(|own| own.energy.is_none()) {
        let meter = if backend == "cuda" { "NVML" } else { "RAPL" };
        notes.push(format!(
            "energies: not measured, because no counter of {meter} can be read here; the file has none"
        ));
    }
    if calibrated.unsettled > 0 {
        notes.push(format!(
            "the machine was not calm: {} gave different times again and again; calibrate again on an idle machine",
            text::count(calibrated.unsettled as u64, "measurement", "measurements")
        ));
    }
    let bodies = machine.calibration.iter().filter_map(|own| own.cpu.as_ref()).flat_map(|cpu| &cpu.bodies);
    for (stencil, elements) in bodies {
        for (element, body) in elements.iter().filter(|(_, body)| body.relative_error > LARGE_ERROR) {
            notes.push(format!(
                "{stencil} {element}: calls, runs and blocks explain the times of rows with an error of {:.0} %, which is much",
                100.0 * body.relative_error
            ));
        }
    }
    let report = summary(machine, arguments, calibrated.disturbed, notes)?;
    Ok(CalibrateReport { elapsed_s: start.elapsed().as_secs_f64(), backend, ..report })
}

fn openmp(arguments: &CalibrateArguments, session: &Session) -> Result<CalibrateReport> {
    let start = std::time::Instant::now();
    let programs = programs(arguments)?;
    let threads = arguments.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        |threads| threads as usize,
    );
    let name = arguments.output.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let request = CpuRequest {
        brief: false,
        name: arguments.name.clone().or(name).unwrap_or_else(|| "this-cpu".to_owned()),
        programs,
        threads,
        effort: if arguments.quick { Effort::Quick } else { Effort::Thorough },
        rounds: arguments.rounds as usize,
        source: format!("tilewright {} calibrate --backend openmp", env!("CARGO_PKG_VERSION")),
    };
    let calibrated = session.stage_of("calibrate", 1000, |progress| {
        calibrate::cpu(&request, &mut shown(&|part| progress.done((1000.0 * part) as i64)))
    })?;
    finished(arguments, &calibrated, "openmp", Vec::new(), start)
}

fn summary(
    machine: &Machine,
    arguments: &CalibrateArguments,
    disturbed_rounds: usize,
    notes: Vec<String>,
) -> Result<CalibrateReport> {
    let Some(calibration) = &machine.calibration else {
        return Err(Error::internal("a calibration without values"));
    };
    let mut stencils = Vec::new();
    for (stencil, elements) in &calibration.c_iter_s {
        for (dtype, c_iter) in elements {
            // One lane's time is shared by all lanes of a core or multiprocessor.
            let lanes = match &machine.facts {
                Facts::Cpu(facts) => facts.lanes(if dtype == "f64" { 8 } else { 4 }),
                Facts::Gpu(facts) => facts.n_v,
            };
            let body = calibration.cpu.as_ref().and_then(|cpu| cpu.bodies.get(stencil)?.get(dtype));
            stencils.push(Body {
                stencil: stencil.clone(),
                dtype: dtype.clone(),
                c_iter_s: c_iter.value,
                point_s: c_iter.value / lanes as f64,
                relative_error: body.map(|body| body.relative_error),
                dispersion: c_iter.dispersion.unwrap_or(0.0) / c_iter.value,
            });
        }
    }
    Ok(CalibrateReport {
        file: arguments.output.clone(),
        backend: "openmp",
        machine: machine.name.clone(),
        l_s_per_word: calibration.l_s_per_word.value,
        tau_sync_s: calibration.tau_sync_s.value,
        t_sync_s: calibration.t_sync_s.value,
        stencils,
        energy: calibration.energy.clone(),
        disturbed_rounds,
        elapsed_s: 0.0,
        notes,
    })
}

impl Report for CalibrateReport {
    const SCHEMA: &'static str = "tilewright.calibrate/1";

    fn text(&self) -> String {
        let [core, row, region] = match self.backend {
            "cuda" => ["multiprocessor", "barrier", "launch"],
            _ => ["core", "row of a tile", "parallel region"],
        };
        let mut text = report::pairs(&[
            ("machine", self.machine.clone()),
            ("L", format!("{:.3} ns per word of 4 bytes and {core}", 1e9 * self.l_s_per_word)),
            ("tau_sync", format!("{:.1} ns per {row}", 1e9 * self.tau_sync_s)),
            ("T_sync", format!("{:.2} us per {region}", 1e6 * self.t_sync_s)),
            (
                "energy",
                self.energy.as_ref().map_or("not measured".to_owned(), |energy| {
                    format!(
                        "{:.1} pJ per word from memory, {:.2} pJ per operation, {:.1} W whatever happens",
                        1e12 * energy.e_glob_j,
                        1e12 * energy.e_flop_j,
                        energy.p_static_w
                    )
                }),
            ),
            ("took", report::seconds(self.elapsed_s)),
            ("file", self.file.display().to_string()),
        ]);
        let row = |body: &Body| {
            vec![
                body.stencil.clone(),
                body.dtype.clone(),
                format!("{:.4}", 1e9 * body.point_s),
                body.relative_error.map_or("-".to_owned(), |error| format!("{:.1} %", 100.0 * error)),
                format!("{:.1} %", 100.0 * body.dispersion),
            ]
        };
        let rows: Vec<_> = self.stencils.iter().map(row).collect();
        text += "\n";
        text += &report::table(
            &["stencil", "type", "ns per point", "fit error", "dispersion"],
            &rows,
            &[2, 3, 4],
        );
        for note in &self.notes {
            text += &format!("\nnote: {note}");
        }
        text
    }
}
