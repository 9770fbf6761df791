//! `tilewright validate`: predictions against measurements.

use crate::arguments::{
    CArguments, CalibratedBackend, ElementTypeName, MOST_STEPS, Size, TimeModelArguments,
};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use crate::strategies::NameParser;
use crate::{drawing, load, outputs, trials_file};
use ::trials::Setting;
use clap::Args;
use cost_models::machine::Machine;
use execution::trials::{self, CpuTiles, DeviceTiles, Forgetful, Keeper, Plan, TileRunner};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::AUTO;
use plots::Point;
use plots::figures::Prediction;
use serde::Serialize;
use std::path::PathBuf;
use tilewright::Stencil;
use tilewright::cpu_model::CpuModel;
use tilewright::gpu_model::GpuModel;
use tilewright::machines;
use tilewright::model::Model;
use tilewright::record::{self, Rounds};
use tilewright::strategies;
use tilewright::text;
use tilewright::validation::{self, Sample, Validation};
use toolchain::driver::Device;

/// Arguments of `validate`.
#[derive(Debug, Clone, Args)]
pub struct ValidateArguments {
    /// A shipped stencil (see `tilewright list`), a .stencil file, or a C file with a `#pragma scop` region
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Grid size, slowest dimension first
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Size,
    /// Number of time steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=MOST_STEPS), allow_negative_numbers = true)]
    pub steps: i64,
    /// A calibrated machine: a file that `calibrate` wrote
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: String,
    /// The form of the time model.
    #[command(flatten)]
    pub model: TimeModelArguments,
    /// What runs the tiles
    #[arg(long, value_name = "NAME")]
    pub backend: CalibratedBackend,
    /// Tiling strategy whose tiles are measured, or auto (the one that the compiler takes)
    #[arg(long, default_value = AUTO, value_name = "NAME", value_parser = NameParser::OR_AUTO)]
    pub strategy: String,
    /// Tiles to measure
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub samples: u64,
    /// Undisturbed runs of each tile
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeat: u64,
    /// Seed of the sample
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Keep all runs in this store of trials, and continue from those that it holds: SQLite, or JSON lines for a name in
    /// .jsonl; @NAME is kept in the state folder
    #[arg(long, value_name = "FILE|@NAME")]
    pub trials: Option<PathBuf>,
    /// Draw predicted against measured times
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
}

/// The report of `validate`.
#[derive(Debug, Serialize)]
pub struct ValidateReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine.
    pub machine: String,
    /// What ran the tiles.
    pub backend: &'static str,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// How well the model fits and picks.
    #[serde(flatten)]
    pub validation: Validation,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

/// Validates.
///
/// # Errors
/// Wrong input, a machine without calibration, and failures of the compiler and of runs.
pub fn validate(arguments: &ValidateArguments, session: &Session) -> Result<ValidateReport> {
    let stencil = session.stage("read", || load::load(&arguments.spec, arguments.dtype, &arguments.c))?;
    let mut files = stencil.files.clone();
    files.extend(machines::file(&arguments.machine));
    let trials = trials_file::path(&arguments.trials)?;
    outputs::check(&outputs::given([("--trials", &trials), ("--svg", &arguments.svg)]), &files)?;
    let arguments = &ValidateArguments { trials, ..arguments.clone() };
    let machine = machines::machine(&arguments.machine)?;
    let measured = match arguments.backend {
        CalibratedBackend::OpenMp => on_cpu(arguments, &stencil, machine, session)?,
        CalibratedBackend::Cuda => on_gpu(arguments, &stencil, machine, session)?,
    };
    let report = summary(arguments, &stencil.program.name, measured)?;
    if let Some(path) = &arguments.svg {
        let point = |sample: &Sample| {
            let times = [sample.measured_s, sample.predicted_s].map(report::seconds);
            let title = format!("{}: measured {}, predicted {}", sample.tile, times[0], times[1]);
            Point::new(sample.measured_s, sample.predicted_s, title)
        };
        let validation = &report.validation;
        let points = validation.tiles.iter().map(point).collect();
        let title = format!(
            "{}, {}, {} steps on {}",
            report.stencil,
            text::size(&report.size),
            report.steps,
            report.machine
        );
        let picked = validation.tiles.len() - 1;
        let prediction = Prediction { title, points, picked, best: validation.fit.best_measured_s };
        drawing::write(path, prediction.chart().svg())?;
    }
    Ok(report)
}

/// What was measured, and what had been predicted.
struct Measured {
    machine: String,
    backend: &'static str,
    /// The last one is the model's own choice.
    samples: Vec<Sample>,
    disturbed: usize,
    caution: Option<String>,
}

fn on_cpu(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    machine: Machine,
    session: &Session,
) -> Result<Measured> {
    let size = &arguments.size.0;
    let modelled =
        session.stage("analyse", || CpuModel::new(stencil, size, arguments.steps, machine, None))?;
    let threads = modelled.machine.cpu().map_or(1, |facts| facts.cores as usize);
    let model = arguments.model.of(Model::Cpu(modelled))?;
    let tiles = tiles(arguments, stencil, &model, session)?;
    measured(arguments, stencil, &model, ("openmp", tiles), &mut CpuTiles::new(threads), session)
}

fn on_gpu(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    machine: Machine,
    session: &Session,
) -> Result<Measured> {
    let size = &arguments.size.0;
    let modelled = session.stage("analyse", || GpuModel::new(stencil, size, arguments.steps, machine))?;
    let model = arguments.model.of(Model::Gpu(modelled))?;
    let tiles = tiles(arguments, stencil, &model, session)?;
    // The device comes last: what is wrong in the request is said on every machine.
    let runner = &mut DeviceTiles::new(session.stage("device", || Device::open(0))?);
    measured(arguments, stencil, &model, ("cuda", tiles), runner, session)
}

fn tiles(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    model: &Model,
    session: &Session,
) -> Result<Vec<TileSizes>> {
    let strategy = strategies::named_for(&arguments.strategy, &stencil.program)?;
    session.stage("search", || validation::tiles(model, strategy, arguments.samples as usize, arguments.seed))
}

fn measured(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    model: &Model,
    (backend, tiles): (&'static str, Vec<TileSizes>),
    runner: &mut dyn TileRunner,
    session: &Session,
) -> Result<Measured> {
    let strategy = strategies::named_for(&arguments.strategy, &stencil.program)?;
    let predicted = |tile: &TileSizes| validation::predicted_s(model, strategy, tile).ok();
    let (samples, disturbed) = measure(arguments, stencil, tiles, runner, &predicted, session)?;
    let machine = model.machine().name.clone();
    Ok(Measured { machine, backend, samples, disturbed, caution: model.caution() })
}

fn measure(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    tiles: Vec<TileSizes>,
    runner: &mut dyn TileRunner,
    predicted: &dyn Fn(&TileSizes) -> Option<f64>,
    session: &Session,
) -> Result<(Vec<Sample>, usize)> {
    let analysis = stencil.analysis()?;
    let plan = Plan {
        program: &stencil.program,
        cone: &analysis.cone,
        strategy: strategies::named_for(&arguments.strategy, &stencil.program)?,
        size: &arguments.size.0,
        steps: arguments.steps,
        runs: arguments.repeat as usize,
    };
    let mut keeper: Box<dyn Keeper> = match &arguments.trials {
        Some(path) => {
            let store = trials_file::open(path, session)?;
            let threads = runner.threads();
            let backend = if threads == 0 { "cuda" } else { "openmp" };
            let setting =
                record::setting(plan.program, plan.strategy.id(), backend, plan.size, plan.steps, "validate");
            let threads = if threads == 0 { String::new() } else { threads.to_string() };
            let setting = Setting { machine: runner.machine(), threads, ..setting };
            Box::new(Rounds::new(store, setting))
        }
        None => Box::new(Forgetful),
    };
    let trials = session.stage_of("measure", 1000, |progress| {
        let told = |_: &str, part: f64| progress.done((1000.0 * part) as i64);
        trials::measure(&plan, &tiles, runner, &mut *keeper, &told)
    })?;
    let mut samples = Vec::new();
    for trial in &trials {
        samples.push(Sample {
            tile: trial.tile.to_string(),
            predicted_s: predicted(&trial.tile)
                .ok_or_else(|| Error::internal("a tile without a prediction"))?,
            measured_s: trial.timing.median,
            dispersion_s: trial.timing.dispersion,
        });
    }
    let disturbed = trials.iter().filter(|trial| trial.disturbed).count();
    Ok((samples, disturbed))
}

fn summary(arguments: &ValidateArguments, stencil: &str, measured: Measured) -> Result<ValidateReport> {
    let Measured { machine, backend, samples, disturbed, caution } = measured;
    let validation = Validation::of(samples)?;
    let mut notes: Vec<String> = caution.into_iter().collect();
    if disturbed > 0 {
        notes.push(format!(
            "other programs were running: {} have times that were disturbed",
            text::count(disturbed as u64, "tile", "tiles")
        ));
    }
    Ok(ValidateReport {
        stencil: stencil.to_owned(),
        machine,
        backend,
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        validation,
        notes,
    })
}

impl Report for ValidateReport {
    const SCHEMA: &'static str = "tilewright.validate/1";

    fn text(&self) -> String {
        let percent = |value: f64| format!("{:.1} %", 100.0 * value);
        let mut text = report::pairs(&[
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&self.size), self.steps)),
            ("machine", self.machine.clone()),
            (
                "samples",
                format!("{} of the feasible tile sizes, and the model's own choice", self.validation.samples),
            ),
            (
                "rmse all",
                percent(self.validation.fit.rmse_all) + ": root mean square of predicted / measured - 1",
            ),
            (
                "rmse top 20",
                format!(
                    "{} over the {} within 20 % of the best",
                    percent(self.validation.fit.rmse_top20),
                    text::count(self.validation.fit.top20 as u64, "tile", "tiles")
                ),
            ),
            (
                "best",
                format!(
                    "{} with {}",
                    report::seconds(self.validation.fit.best_measured_s),
                    self.validation.best_tile
                ),
            ),
            (
                "picked",
                format!(
                    "{} with {}, {:.3} times the best, predicted {}",
                    report::seconds(self.validation.picked_measured_s),
                    self.validation.picked_tile,
                    self.validation.picked_over_best,
                    report::seconds(self.validation.picked_predicted_s)
                ),
            ),
            (
                "rank",
                format!(
                    "{} of {} (1: the fastest)",
                    self.validation.rank_of_picked,
                    self.validation.samples + 1
                ),
            ),
        ]);
        // The last size is that of the rows.
        let mut tiles = [&self.validation.best_tile, &self.validation.picked_tile].into_iter();
        let zero = tiles.find_map(|tile| tile.rsplit(',').next().filter(|size| size.ends_with("=0")));
        if let Some(size) = zero {
            text += &format!("\n({size}: whole rows)\n");
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}");
        }
        text
    }
}
