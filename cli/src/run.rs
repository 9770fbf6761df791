//! `tilewright run`: runs a stencil, checks the result and measures it.

use crate::arguments::{
    ArithmeticArguments, Assignment, ChoiceArguments, PlanArguments, RanksName, Size, steps_parser,
};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::ranks_report::RanksReport;
use crate::report::{self, Report};
use crate::{initial_data, load, outputs, plan, trials_file};
use clap::{Args, ValueEnum};
use execution::emulator::EmulatorReport;
use execution::grid::ProgramData;
use execution::npy;
use hhc_codegen::TileSizes;
use polyhedral::arithmetic::Arithmetic;
use polyhedral::legality::Proof;
use polyhedral::program::Program;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tilewright::contract::Liberties;
use tilewright::data::{Arrangement, FieldFile};
use tilewright::{
    Backend, BuildRequest, Built, Measured, RunRequest, contract, machines, record, run_record, text,
};
use toolchain::interrupt;
use trials::{Outcome, Setting};

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The stencil and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Grid size, slowest dimension first, such as 4096x4096; not needed where --input tells it
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<Size>,
    /// Number of time steps; 0 is allowed
    #[arg(long, value_name = "N", value_parser = steps_parser(), allow_negative_numbers = true)]
    pub steps: i64,
    /// What runs it
    #[arg(long, default_value = "openmp", value_name = "NAME")]
    pub backend: BackendName,
    /// Who chooses tile sizes.
    #[command(flatten)]
    pub choice: ChoiceArguments,
    /// Machine that the tile sizes are chosen for where none are given: a name or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Initial values of a field; may be repeated
    #[arg(long, value_name = "FIELD=FILE.npy")]
    pub input: Vec<Assignment>,
    /// Where to write the newest values of a field; may be repeated
    #[arg(long, value_name = "FIELD=FILE.npy")]
    pub output: Vec<Assignment>,
    /// Value of a parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub param: Vec<Assignment>,
    /// Compare the result with the reference interpreter, bit for bit
    #[arg(long)]
    pub verify: bool,
    /// What may be computed in place of the program's own operations.
    #[command(flatten)]
    pub arithmetic: ArithmeticArguments,
    /// Number of threads; all cores where not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub threads: Option<u64>,
    /// Measure this often, after one run to warm up; with 1, without
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub repeat: u64,
    /// Seed of the pseudo-random initial values
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How the grid lies in memory
    #[arg(long, value_name = "LAYOUT", default_value = "padded")]
    pub layout: LayoutName,
    /// Spread the grid over the ranks of MPI that mpirun started: auto, or so many per dimension, such as 2x2; auto where
    /// there are several and nothing is said
    #[arg(long, value_name = "auto|RANKS", help_heading = "Ranks of MPI")]
    pub ranks: Option<RanksName>,
    /// Time steps between two exchanges of ghost zones; chosen where not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..), help_heading = "Ranks of MPI")]
    pub depth: Option<i64>,
    /// Compute nothing while messages are under way
    #[arg(long, help_heading = "Ranks of MPI")]
    pub blocking: bool,
    /// Write checkpoints to this file, the last one at the end; it is whole at any time
    #[arg(long, value_name = "FILE", help_heading = "Ranks of MPI")]
    pub checkpoint: Option<PathBuf>,
    /// Time steps between two checkpoints
    #[arg(long, value_name = "N", requires = "checkpoint", value_parser = clap::value_parser!(i64).range(1..), allow_negative_numbers = true, help_heading = "Ranks of MPI")]
    pub checkpoint_every: Option<i64>,
    /// Go on from this checkpoint, with any number of ranks; --steps counts those that it has, too
    #[arg(long, value_name = "FILE", help_heading = "Ranks of MPI")]
    pub restart: Option<PathBuf>,
    /// End the run, and name the rank, where one has not answered for so long; 0: wait for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(0..=1_000_000), allow_negative_numbers = true, help_heading = "Ranks of MPI")]
    pub rank_timeout: u64,
    /// Add what is measured to this store of trials: SQLite, or JSON lines for a name in .jsonl; @NAME is kept in the
    /// state folder
    #[arg(long, value_name = "FILE|@NAME")]
    pub trials: Option<PathBuf>,
}

/// What runs a stencil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// Compiled C on all cores
    #[value(name = "openmp")]
    OpenMp,
    /// A GPU
    Cuda,
    /// The CUDA code on the CPU, every access checked
    Emulator,
    /// The plain interpreter that defines the right result
    Reference,
}

impl BackendName {
    /// The back end.
    pub fn backend(self) -> Backend {
        match self {
            BackendName::OpenMp => Backend::OpenMp,
            BackendName::Cuda => Backend::Cuda,
            BackendName::Emulator => Backend::Emulator,
            BackendName::Reference => Backend::Reference,
        }
    }
}

/// How a grid lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    /// Without gaps
    Dense,
    /// Rows and levels at distances that suit the caches
    Padded,
}

impl LayoutName {
    /// The arrangement.
    pub fn arrangement(self) -> Arrangement {
        match self {
            LayoutName::Dense => Arrangement::Dense,
            LayoutName::Padded => Arrangement::Padded,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LayoutName::Dense => "dense",
            LayoutName::Padded => "padded",
        }
    }
}

/// The report of `run`.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Tiling strategy; null for the reference interpreter.
    pub strategy: Option<&'static str>,
    /// What ran it.
    pub backend: &'static str,
    /// Grid extents, slowest dimension first.
    pub size: Vec<i64>,
    /// Number of time steps.
    pub steps: i64,
    /// Tile sizes by name; null for the reference interpreter.
    pub tile: Option<TileSizes>,
    /// Tile sizes as `--tile` takes them.
    pub tile_text: Option<String>,
    /// Median of the run times, in seconds.
    pub seconds: f64,
    /// All run times that count, in seconds.
    pub seconds_all: Vec<f64>,
    /// Points computed per step, times steps, per second of the median run, in units of 10^9. A point counts
    /// once per step, whatever the number of statements.
    pub gstencil_per_s: f64,
    /// Checksum of the newest level of all state fields: 16 hexadecimal digits, the same for equal results on
    /// every back end.
    pub checksum: String,
    /// Whether all values have the bits of the reference, or with `--contract` and `--fast-math` differ by no more than the bound; null where
    /// that was not asked for, or there is no bound.
    pub verified: Option<bool>,
    /// How far contraction and approximations may move a value; only with `--contract` or `--fast-math`, and where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_bound: Option<f64>,
    /// Largest absolute difference from the reference; null where that was not asked for, or infinite.
    pub max_abs_error: Option<f64>,
    /// Number of values that differ from the reference; null where that was not asked for.
    pub mismatches: Option<u64>,
    /// The first value that differs.
    pub first_mismatch: Option<String>,
    /// Points computed per step.
    pub points_per_step: u64,
    /// Element type of the fields, if they all have the same; else null.
    pub dtype: Option<&'static str>,
    /// How the grid lay in memory.
    pub layout: &'static str,
    /// Bytes of the grid.
    pub bytes: u64,
    /// Number of threads of the CPU; null where a device computes.
    pub threads: Option<usize>,
    /// Name of the device; null on the CPU.
    pub device: Option<String>,
    /// Kernel launches of a run; null on the CPU.
    pub launches: Option<u64>,
    /// Seed of the pseudo-random initial values; null where all values came from files.
    pub seed: Option<u64>,
    /// Parameters and their values.
    pub parameters: BTreeMap<String, f64>,
    /// isl's proof that the tiling is legal; null for the reference interpreter.
    pub proof: Option<Proof>,
    /// The compiler's command line.
    pub compiler: Option<String>,
    /// What the emulator's checks found; null on other back ends.
    pub emulator: Option<EmulatorReport>,
    /// Output files by field.
    pub outputs: BTreeMap<String, PathBuf>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
    /// What the ranks of MPI did; only with several of them or `--ranks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RanksReport>,
    /// The stage that `--dump` asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dump: Option<String>,
}

/// Runs the stencil.
///
/// # Errors
/// Wrong input, an infeasible tiling, and failures of compiler, memory or disk. A result that differs from the
/// reference is no error but a report that has not passed.
pub fn run(arguments: &RunArguments, session: &Session) -> Result<RunReport> {
    plan::dump_refused(arguments.plan.dump, session);
    let stencil = session.stage("read", || load::of_plan(&arguments.plan))?;
    let program = &stencil.program;
    let parameters = initial_data::parameters(program, &arguments.param)?;
    let inputs = initial_data::input_files(program, &arguments.input)?;
    let outputs = initial_data::field_files(program, "--output", &arguments.output)?;
    let mut files = stencil.files.clone();
    files.extend(arguments.machine.as_deref().and_then(machines::file));
    files.extend(inputs.fields.iter().map(|input| input.path.clone()));
    files.extend(inputs.series.iter().map(|(_, path)| path.clone()));
    let trials = trials_file::path(&arguments.trials)?;
    let written = outputs.iter().map(|output| ("--output", output.path.as_path()));
    let written: Vec<_> = written.chain(trials.iter().map(|path| ("--trials", path.as_path()))).collect();
    outputs::check(&written, &files)?;
    let size = initial_data::grid_size(program, arguments.size.as_ref(), &inputs.fields)?;
    set_threads(arguments)?;
    let arrangement = arguments.layout.arrangement();
    let mut data = session.stage("initial data", || {
        tilewright::initial_data(program, &size, arguments.steps, arrangement, &inputs, arguments.seed)
    })?;
    let machine = match arguments.backend {
        BackendName::Reference => None,
        _ => arguments.machine.as_deref().map(machines::machine).transpose()?,
    };
    let request = BuildRequest {
        backend: arguments.backend.backend(),
        tiling: arguments.plan.tiling(),
        size: &size,
        steps: arguments.steps,
        machine: machine.as_ref(),
        threads: arguments.threads.map(|threads| threads as usize),
        tile_by: arguments.choice.tile_by(),
        calibrate: !arguments.choice.no_calibrate,
        arithmetic: arguments.arithmetic.arithmetic(),
        seed: arguments.seed,
        device: 0,
    };
    let mut store = trials.as_deref().map(|path| trials_file::open(path, session)).transpose()?;
    let layout = if data.layout().is_dense() { ", dense layout" } else { "" };
    let liberties = match (request.arithmetic.contract, request.arithmetic.approximate) {
        (true, true) => ", contracted and approximated",
        (true, false) => ", contracted",
        (false, true) => ", approximated",
        (false, false) => "",
    };
    let mut record = |built: Option<&Built>, outcome: Option<Outcome>| match (&mut store, outcome) {
        (Some(store), Some(outcome)) => {
            let setting = run_record::run_setting(&stencil, &request, built, "run");
            let setting = Setting { job: setting.job.clone() + layout + liberties, ..setting };
            let planned = built.and_then(|built| built.planned.as_ref());
            let tile = planned.map(|planned| &planned.plan.tile).or(arguments.plan.tile.as_ref());
            let configuration = record::configuration(tile.unwrap_or(&TileSizes::default()));
            record::append(store, setting, configuration, outcome)
        }
        _ => Ok(()),
    };
    let built = match tilewright::build(&stencil, &request, session) {
        Ok(built) => built,
        Err(error) => {
            record(None, run_record::failure(&error))?;
            return Err(error);
        }
    };
    let Built { runner, planned, .. } = &built;
    let run = RunRequest {
        steps: arguments.steps,
        parameters,
        repeat: arguments.repeat as usize,
        verify: arguments.verify,
    };
    let steps = arguments.steps;
    let free = stencil.with_arithmetic(request.arithmetic);
    let bound = (!request.arithmetic.is_exact()).then(|| {
        session.stage("error bound", || contract::error_bound(&free, &data, &run.parameters, steps))
    });
    let measured = match tilewright::run(&stencil, &built, &run, &mut data, session) {
        Ok(measured) => measured,
        Err(error) => {
            record(Some(&built), run_record::failure(&error))?;
            return Err(error);
        }
    };
    // Where there is no bound, all that are numbers.
    let permitted = bound.as_ref().map_or(0.0, |bound| bound.as_ref().copied().unwrap_or(f64::MAX));
    record(Some(&built), Some(run_record::outcome(&measured, permitted)))?;
    let Measured { timing, last, comparison, checksum, points_per_step, gstencil_per_s } = measured;
    session.stage("write", || write_outputs(program, arguments.steps, &data, &outputs))?;

    let plan = planned.as_ref().map(|planned| &planned.plan);
    let mut notes = notes(program, &size);
    if planned.is_none() && (arguments.plan.tile.is_some() || arguments.plan.dump.is_some()) {
        notes.push("the reference interpreter has no tiling: --tile and --dump have no effect".to_owned());
    }
    notes.extend(built.notes.iter().cloned());
    if let Some(Err(reason)) = &bound {
        notes.push(format!(
            "how far {} may move the result is not known: {reason}",
            moves(request.arithmetic)
        ));
    }
    notes.extend(Liberties::note(&free.program));
    let element = program.fields[0].element;
    Ok(RunReport {
        stencil: program.name.clone(),
        strategy: plan.map(|plan| plan.strategy),
        backend: arguments.backend.backend().name(),
        steps: arguments.steps,
        tile: plan.map(|plan| plan.tile.clone()),
        tile_text: plan.map(|plan| plan.tile.to_string()),
        seconds: timing.median,
        gstencil_per_s,
        seconds_all: timing.seconds_all,
        checksum: format!("{checksum:016x}"),
        verified: comparison.as_ref().and_then(|comparison| match &bound {
            _ if comparison.mismatches == 0 => Some(true),
            None => Some(false),
            Some(bound) => bound.as_ref().ok().map(|&bound| comparison.max_abs_error <= bound),
        }),
        error_bound: bound.and_then(|bound| bound.ok()),
        max_abs_error: comparison.as_ref().map(|comparison| comparison.max_abs_error),
        mismatches: comparison.as_ref().map(|comparison| comparison.mismatches),
        first_mismatch: comparison.and_then(|comparison| comparison.first.map(|first| first.to_string())),
        points_per_step,
        dtype: program.fields.iter().all(|field| field.element == element).then(|| element.name()),
        layout: match arguments.layout {
            _ if data.layout().is_dense() => LayoutName::Dense.name(),
            layout => layout.name(),
        },
        bytes: data.bytes(),
        threads: runner.threads(),
        device: runner.device(),
        launches: last.launches,
        seed: inputs.leave_some(program).then_some(arguments.seed),
        parameters: names(program).zip(run.parameters.iter().copied()).collect(),
        proof: planned.as_ref().map(|planned| planned.proof.clone()),
        compiler: built.compiler.clone(),
        emulator: last.emulator,
        outputs: outputs
            .iter()
            .map(|file| (program.field(file.field).name.clone(), file.path.clone()))
            .collect(),
        notes,
        ranks: None,
        dump: arguments.plan.dump.zip(planned.as_ref()).map(|(stage, planned)| plan::dump(stage, planned)),
        size,
    })
}

/// What moves results.
fn moves(arithmetic: Arithmetic) -> &'static str {
    match (arithmetic.contract, arithmetic.approximate) {
        (true, true) => "contraction and approximations",
        (false, true) => "approximations",
        _ => "contraction",
    }
}

pub(crate) fn names(program: &Program) -> impl Iterator<Item = String> + '_ {
    program.parameters.iter().map(|parameter| parameter.name.clone())
}

/// Threads of the interpreter, of initialisation and of comparison.
fn set_threads(arguments: &RunArguments) -> Result<()> {
    let Some(threads) = arguments.threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .build_global()
        .map_err(|error| Error::infeasible(format!("cannot start {threads} threads: {error}")))
}

/// Writes the newest levels, each file complete or not at all.
fn write_outputs(program: &Program, steps: i64, data: &ProgramData, outputs: &[FieldFile]) -> Result<()> {
    for FieldFile { field, path } in outputs {
        interrupt::check()?;
        npy::write_level(path, data.layout(), data.level(program, *field, steps))?;
    }
    Ok(())
}

/// Facts worth knowing about the problem.
pub(crate) fn notes(program: &Program, size: &[i64]) -> Vec<String> {
    let empty = |statement: &usize| program.points(*statement, size).iter().any(|(low, end)| low >= end);
    (0..program.statements.len())
        .filter(empty)
        .map(|statement| {
            let name = program.statement_name(statement);
            let statement = &program.statements[statement];
            // The least extents for which every interval holds a point.
            let least = statement.domain.iter().zip(&program.least_size).map(|(interval, &least)| {
                let one = interval.high.reaches(interval.low.shifted(1)).unwrap_or(0);
                one.max(least)
            });
            let least: Vec<i64> = least.collect();
            format!(
                "the grid is smaller than the stencil: `{}` is computed nowhere (it needs at least {})",
                name,
                text::size(&least)
            )
        })
        .collect()
}

impl Report for RunReport {
    const SCHEMA: &'static str = "tilewright.run/1";

    fn passed(&self) -> bool {
        self.verified != Some(false)
            && self.emulator.as_ref().is_none_or(|report| report.total_violations == 0)
    }

    fn text(&self) -> String {
        let where_it_runs = match (&self.device, self.threads) {
            (Some(device), _) => device.clone(),
            (None, threads) => text::count(threads.unwrap_or(1) as u64, "thread", "threads"),
        };
        let mut lines = vec![
            (
                "stencil",
                format!(
                    "{}, {}, {}",
                    self.stencil,
                    text::size(&self.size),
                    text::count(self.steps as u64, "step", "steps")
                ),
            ),
            ("backend", format!("{}, {where_it_runs}", self.backend)),
        ];
        if let (Some(strategy), Some(tile), Some(proof)) = (self.strategy, &self.tile, &self.proof) {
            lines.push(("strategy", strategy.to_owned()));
            lines.push(("tile", plan::tile_text(strategy, tile)));
            lines.push(("proof", plan::proof_text(proof)));
        }
        lines.push(("grid", format!("{}, {} layout", report::bytes(self.bytes as f64), self.layout)));
        let runs = match self.seconds_all.len() {
            1 => String::new(),
            many => format!(" (median of {many} runs)"),
        };
        lines.push(("time", report::seconds(self.seconds) + &runs));
        lines.extend(self.ranks.iter().flat_map(RanksReport::lines));
        lines.push(("speed", format!("{:.3} GStencil/s", self.gstencil_per_s)));
        lines.push(("checksum", self.checksum.clone()));
        lines.push((
            "verified",
            match (self.verified, self.mismatches, self.max_abs_error) {
                (Some(true), Some(mismatches @ 1..), Some(error)) => format!(
                    "yes: {mismatches} values differ from the reference by up to {error:e}; the bound is {:e}",
                    self.error_bound.unwrap_or_default()
                ),
                (Some(true), ..) => "yes: every bit is that of the reference".to_owned(),
                (None, Some(mismatches), Some(error)) => {
                    format!("unknown: {mismatches} values differ from the reference by up to {error:e}")
                }
                (Some(false), Some(mismatches), Some(error)) => format!(
                    "NO: {mismatches} values differ from the reference by up to {error:e}, first {}",
                    self.first_mismatch.as_deref().unwrap_or("unknown")
                ),
                _ => "not asked for (--verify)".to_owned(),
            },
        ));
        if let Some(report) = &self.emulator {
            let found = match report.total_violations {
                0 => "no violation".to_owned(),
                many => format!("{} VIOLATIONS", many),
            };
            let mut text = format!(
                "{found} in {} ({}, {})",
                text::count(report.launches, "launch", "launches"),
                text::count(report.blocks, "block", "blocks"),
                text::count(report.barriers, "barrier", "barriers"),
            );
            report.violations.iter().for_each(|violation| text.push_str(&format!("\n{violation}")));
            lines.push(("emulator", text));
        }
        let outputs: Vec<String> =
            self.outputs.iter().map(|(field, path)| format!("{field} in {}", path.display())).collect();
        if !outputs.is_empty() {
            lines.push(("written", outputs.join("\n")));
        }
        if !self.notes.is_empty() {
            lines.push(("note", self.notes.join("\n")));
        }
        let dump = self.dump.as_ref().map(|dump| dump.clone() + "\n").unwrap_or_default();
        dump + &report::pairs(&lines)
    }
}
