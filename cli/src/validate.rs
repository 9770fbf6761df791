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
use clap::{Args, ValueEnum};
use cost_models::machine::Machine;
use execution::trials::{
    self, Counter, CpuTiles, DeviceTiles, Forgetful, Keeper, Plan, PredictedTiles, TileRunner,
};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::AUTO;
use plots::Point;
use plots::figures::Prediction;
use polyhedral::cone::Cone;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tilewright::Stencil;
use tilewright::cpu_model::CpuModel;
use tilewright::gpu_model::GpuModel;
use tilewright::machines;
use tilewright::model::Model;
use tilewright::record::{self, Rounds};
use tilewright::strategies;
use tilewright::text;
use tilewright::validation::{self, Metric, Sample, Validation};
use toolchain::driver::Device;
use toolchain::energy::{EnergyMeter, NvmlMeter, Rapl, Simulated, SimulatedMeter};

/// Relative standard deviation of what a simulated counter counts.
const NOISE: f64 = 0.01;
/// Joules after which a simulated counter wraps around for the first time.
const FIRST_WRAP_J: f64 = 100.0;

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
    /// What is predicted and measured
    #[arg(long, default_value = "time", value_name = "WHAT")]
    pub metric: MetricName,
    /// Which counter of joules is read, with --metric energy
    #[arg(long, default_value = "auto", value_name = "WHICH")]
    pub counter: CounterName,
    /// Tiles to measure
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(2..=10_000))]
    pub samples: u64,
    /// Undisturbed runs of each tile
    #[arg(long, allow_negative_numbers = true, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub repeat: u64,
    /// Seed of the sample, and of a simulated counter
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Keep all runs in this store of trials, and continue from those that it holds: SQLite, or JSON lines for a name in
    /// .jsonl; @NAME is kept in the state folder
    #[arg(long, value_name = "FILE|@NAME")]
    pub trials: Option<PathBuf>,
    /// Draw predicted against measured values
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
}

/// What is predicted and measured, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricName {
    /// Seconds
    Time,
    /// Joules: RAPL's of a CPU, NVML's of a GPU
    Energy,
}

impl MetricName {
    fn metric(self) -> Metric {
        match self {
            MetricName::Time => Metric::Time,
            MetricName::Energy => Metric::Energy,
        }
    }
}

/// Which counter of joules is read, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CounterName {
    /// The hardware's where it can be read, a simulated one elsewhere, which the report says
    Auto,
    /// The hardware's
    Hardware,
    /// A simulated one: it ticks, wraps around and is noisy, and counts what the model says
    Simulated,
}

/// The counter that was read.
#[derive(Debug, Clone, Serialize)]
pub struct CounterReport {
    /// Its name.
    pub name: String,
    /// Whether no hardware was read: measured joules are the model's own, as such a counter would show them.
    pub simulated: bool,
    /// Whether no tile ran: there is no device, and times are the predicted ones.
    pub simulated_times: bool,
    /// Whether the energies of the machine are assumed ones, because its file has none.
    pub assumed_energies: bool,
    /// What chose the noise of a simulated counter.
    pub seed: Option<u64>,
    /// Relative standard deviation of the noise of a simulated counter.
    pub noise: Option<f64>,
    /// How often a simulated counter wrapped around.
    pub wrapped: Option<u64>,
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
    /// The counter of joules; null where times were compared.
    pub counter: Option<CounterReport>,
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
    let energy = arguments.metric == MetricName::Energy;
    if energy && arguments.trials.is_some() {
        let message = "--trials keeps times, and --metric energy measures joules";
        return Err(Error::wrong_input(message).hint("leave one of them out"));
    }
    if !energy && arguments.counter != CounterName::Auto {
        let message = "--counter is for joules, and times are compared";
        return Err(Error::wrong_input(message).hint("add --metric energy"));
    }
    let machine = machines::machine(&arguments.machine)?;
    let measured = match arguments.backend {
        CalibratedBackend::OpenMp => on_cpu(arguments, &stencil, machine, session)?,
        CalibratedBackend::Cuda => on_gpu(arguments, &stencil, machine, session)?,
    };
    let report = summary(arguments, &stencil.program.name, measured)?;
    if let Some(path) = &arguments.svg {
        let point = |sample: &Sample| {
            let values =
                [sample.measured, sample.predicted].map(|value| value_text(report.validation.metric, value));
            let title = format!("{}: measured {}, predicted {}", sample.tile, values[0], values[1]);
            Point::new(sample.measured, sample.predicted, title)
        };
        let validation = &report.validation;
        let points = validation.tiles.iter().map(point).collect();
        let simulated = report.counter.as_ref().filter(|counter| counter.simulated);
        let title = format!(
            "{}, {}, {} steps on {}{}",
            report.stencil,
            text::size(&report.size),
            report.steps,
            report.machine,
            simulated.map_or(String::new(), |counter| format!(", {}", counter.name))
        );
        let picked = validation.tiles.len() - 1;
        let quantity = match validation.metric {
            Metric::Time => "time".to_owned(),
            Metric::Energy => "energy in joules".to_owned(),
        };
        let prediction = Prediction { title, quantity, points, picked, best: validation.fit.best_measured };
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
    counter: Option<CounterReport>,
}

fn on_cpu(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    machine: Machine,
    session: &Session,
) -> Result<Measured> {
    let size = &arguments.size.0;
    let meter: Option<Box<dyn EnergyMeter>> = match (arguments.metric, arguments.counter) {
        (MetricName::Time, _) | (_, CounterName::Simulated) => None,
        _ => Rapl::open().map(|meter| Box::new(meter) as Box<dyn EnergyMeter>),
    };
    let joules = Joules::new(arguments, meter, Simulated::Rapl, "the processor's counter (RAPL)")?;
    let (machine, assumed) = match &joules {
        Some(Joules { meter: None, .. }) => validation::with_energies(machine),
        _ => (machine, false),
    };
    let modelled =
        session.stage("analyse", || CpuModel::new(stencil, size, arguments.steps, machine, None))?;
    let threads = modelled.machine.cpu().map_or(1, |facts| facts.cores as usize);
    let model = arguments.model.of(Model::Cpu(modelled))?;
    let tiles = tiles(arguments, stencil, &model, session)?;
    let joules = joules.map(|own| Joules { assumed, ..own });
    measured(arguments, stencil, &model, ("openmp", tiles), (&mut CpuTiles::new(threads), joules), session)
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
    let device = session.stage("device", || Device::open(0));
    let is_energy = arguments.metric == MetricName::Energy;
    let device = match device {
        Err(_) if is_energy && arguments.counter != CounterName::Hardware => None,
        device => Some(device?),
    };
    let meter: Option<Box<dyn EnergyMeter>> = match (&device, arguments.metric, arguments.counter) {
        (_, MetricName::Time, _) | (_, _, CounterName::Simulated) | (None, ..) => None,
        (Some(device), ..) => {
            NvmlMeter::open(&device.facts().name).map(|meter| Box::new(meter) as Box<dyn EnergyMeter>)
        }
    };
    let joules = Joules::new(arguments, meter, Simulated::Nvml, "the device's counter (NVML)")?;
    match device {
        Some(device) => {
            let runner = &mut DeviceTiles::new(device);
            measured(arguments, stencil, &model, ("cuda", tiles), (runner, joules), session)
        }
        None => {
            let strategy = strategies::named_for(&arguments.strategy, &stencil.program)?;
            let times = tiles.iter().map(|tile| validation::predicted_s(&model, strategy, tile));
            let runner = &mut PredictedTiles::new(times.collect::<tilewright::Result<_>>()?);
            let joules = joules.map(|own| Joules { nothing_runs: true, ..own });
            measured(arguments, stencil, &model, ("cuda", tiles), (runner, joules), session)
        }
    }
}

/// How joules are measured.
struct Joules {
    /// The hardware's counter; `None`: a simulated one.
    meter: Option<Box<dyn EnergyMeter>>,
    simulated: Simulated,
    nothing_runs: bool,
    assumed: bool,
}

impl Joules {
    /// `None` where times are compared.
    ///
    /// # Errors
    /// No counter can be read, and the hardware's is asked for.
    fn new(
        arguments: &ValidateArguments,
        meter: Option<Box<dyn EnergyMeter>>,
        simulated: Simulated,
        counter: &str,
    ) -> Result<Option<Joules>> {
        if arguments.metric == MetricName::Time {
            return Ok(None);
        }
        if meter.is_none() && arguments.counter == CounterName::Hardware {
            let message = format!("{counter} cannot be read here");
            let hint = "some systems let administrators alone read it; --counter simulated shows how it would be read";
            return Err(Error::infeasible(message).hint(hint));
        }
        Ok(Some(Joules { meter, simulated, nothing_runs: false, assumed: false }))
    }
}

fn tiles(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    model: &Model,
    session: &Session,
) -> Result<Vec<TileSizes>> {
    let strategy = strategies::named_for(&arguments.strategy, &stencil.program)?;
    let sample = (arguments.samples as usize, arguments.seed);
    session.stage("search", || validation::tiles(model, arguments.metric.metric(), strategy, sample))
}

fn measured(
    arguments: &ValidateArguments,
    stencil: &Stencil,
    model: &Model,
    (backend, tiles): (&'static str, Vec<TileSizes>),
    (runner, joules): (&mut dyn TileRunner, Option<Joules>),
    session: &Session,
) -> Result<Measured> {
    let strategy = strategies::named_for(&arguments.strategy, &stencil.program)?;
    let machine = model.machine().name.clone();
    let caution = model.caution();
    let Some(joules) = joules else {
        let predicted = |tile: &TileSizes| validation::predicted_s(model, strategy, tile).ok();
        let (samples, disturbed) = measure(arguments, stencil, tiles, runner, &predicted, session)?;
        return Ok(Measured { machine, backend, samples, disturbed, caution, counter: None });
    };
    let predicted =
        tiles.iter().map(|tile| Ok((tile.to_string(), validation::energies(model, strategy, tile)?)));
    let predicted: BTreeMap<String, validation::Energies> = predicted.collect::<Result<_>>()?;
    let spent = |tile: &TileSizes, seconds: f64| {
        predicted.get(&tile.to_string()).map_or(0.0, |own| own.within(seconds))
    };
    let simulated = joules.meter.is_none();
    let mut counter = match joules.meter {
        Some(meter) => Counter::Real(meter),
        None => {
            let meter = SimulatedMeter::new(joules.simulated, NOISE, arguments.seed);
            Counter::Simulated(meter.wrapping_after(FIRST_WRAP_J), &spent)
        }
    };
    let analysis = stencil.analysis()?;
    let plan = plan(arguments, stencil, &analysis.cone)?;
    let measured = session.stage_of("measure", 1000, |progress| {
        let told = |_: &str, part: f64| progress.done((1000.0 * part) as i64);
        trials::measure_energy(&plan, &tiles, runner, &mut counter, &told)
    })?;
    let sample = |own: &trials::TileEnergy| Sample {
        tile: own.tile.to_string(),
        predicted: predicted.get(&own.tile.to_string()).map_or(0.0, |own| own.joules),
        measured: own.joules,
        dispersion: own.dispersion_j,
    };
    let report = CounterReport {
        name: counter.name(),
        simulated,
        simulated_times: joules.nothing_runs,
        assumed_energies: joules.assumed,
        seed: simulated.then_some(arguments.seed),
        noise: simulated.then_some(NOISE),
        wrapped: match &counter {
            Counter::Simulated(meter, _) => Some(meter.wrapped()),
            Counter::Real(_) => None,
        },
    };
    Ok(Measured {
        machine,
        backend,
        samples: measured.iter().map(sample).collect(),
        disturbed: measured.iter().filter(|own| own.disturbed).count(),
        caution,
        counter: Some(report),
    })
}

fn plan<'a>(arguments: &'a ValidateArguments, stencil: &'a Stencil, cone: &'a Cone) -> Result<Plan<'a>> {
    Ok(Plan {
        program: &stencil.program,
        cone,
        strategy: strategies::named_for(&arguments.strategy, &stencil.program)?,
        size: &arguments.size.0,
        steps: arguments.steps,
        runs: arguments.repeat as usize,
    })
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
    let plan = plan(arguments, stencil, &analysis.cone)?;
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
            predicted: predicted(&trial.tile)
                .ok_or_else(|| Error::internal("a tile without a prediction"))?,
            measured: trial.timing.median,
            dispersion: trial.timing.dispersion,
        });
    }
    let disturbed = trials.iter().filter(|trial| trial.disturbed).count();
    Ok((samples, disturbed))
}

fn summary(arguments: &ValidateArguments, stencil: &str, measured: Measured) -> Result<ValidateReport> {
    let Measured { machine, backend, samples, disturbed, caution, counter } = measured;
    let validation = Validation::of(arguments.metric.metric(), samples)?;
    let mut notes: Vec<String> = caution.into_iter().collect();
    if disturbed > 0 {
        notes.push(format!(
            "other programs were running: {} have values that were disturbed",
            text::count(disturbed as u64, "tile", "tiles")
        ));
    }
    notes.extend(counter.as_ref().and_then(CounterReport::note));
    Ok(ValidateReport {
        stencil: stencil.to_owned(),
        machine,
        backend,
        size: arguments.size.0.clone(),
        steps: arguments.steps,
        validation,
        counter,
        notes,
    })
}

impl CounterReport {
    /// What a simulated counter says, and what not.
    fn note(&self) -> Option<String> {
        let times = if self.simulated_times { "; no tile ran, and times are predicted ones" } else { "" };
        let energies = if self.assumed_energies {
            "; its machine has no energies, and those of the model are assumed ones"
        } else {
            ""
        };
        self.simulated.then(|| {
            format!(
                "the counter is simulated: it counts what the model says of the time that a tile takes, with noise, in steps and \
                 across its end. This shows that joules are read as they should be, and nothing of the model's energies{times}{energies}"
            )
        })
    }
}

/// A value with its unit.
fn value_text(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Time => report::seconds(value),
        Metric::Energy => format!("{value:.4} J"),
    }
}

impl Report for ValidateReport {
    const SCHEMA: &'static str = "tilewright.validate/1";

    fn text(&self) -> String {
        let percent = |value: f64| format!("{:.1} %", 100.0 * value);
        let value = |value: f64| value_text(self.validation.metric, value);
        let mut pairs = vec![
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
                format!("{} with {}", value(self.validation.fit.best_measured), self.validation.best_tile),
            ),
            (
                "picked",
                format!(
                    "{} with {}, {:.3} times the best, predicted {}",
                    value(self.validation.picked_measured),
                    self.validation.picked_tile,
                    self.validation.picked_over_best,
                    value(self.validation.picked_predicted)
                ),
            ),
            (
                "rank",
                format!(
                    "{} of {} (1: the {})",
                    self.validation.rank_of_picked,
                    self.validation.samples + 1,
                    if self.validation.metric == Metric::Time { "fastest" } else { "least" }
                ),
            ),
        ];
        if let Some(counter) = &self.counter {
            let simulated = match (counter.simulated, counter.noise, counter.seed) {
                (true, Some(noise), Some(seed)) => {
                    format!(", SIMULATED: nothing was measured (seed {seed}, noise of {})", percent(noise))
                }
                _ => String::new(),
            };
            pairs.insert(2, ("counter", counter.name.clone() + &simulated));
        }
        let mut text = report::pairs(&pairs);
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
