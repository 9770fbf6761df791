//! Tiles run on a CPU or a GPU, their times or joules beside the predicted ones.

use super::arguments::{CounterName, MetricName, ValidateArguments};
use super::report::CounterReport;
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::trials_file;
use ::trials::Setting;
use cost_models::machine::Machine;
use execution::trials::{
    self, Counter, CpuTiles, DeviceTiles, Forgetful, Keeper, Plan, PredictedTiles, TileRunner,
};
use hhc_codegen::TileSizes;
use polyhedral::cone::Cone;
use std::collections::BTreeMap;
use tilewright::Stencil;
use tilewright::cpu_model::CpuModel;
use tilewright::gpu_model::GpuModel;
use tilewright::model::Model;
use tilewright::record::{self, Rounds};
use tilewright::strategies;
use tilewright::validation::{self, Sample};
use toolchain::driver::Device;
use toolchain::energy::{EnergyMeter, NvmlMeter, Rapl, Simulated, SimulatedMeter};

/// Relative standard deviation of what a simulated counter counts.
const NOISE: f64 = 0.01;
/// Joules after which a simulated counter wraps around for the first time.
const FIRST_WRAP_J: f64 = 100.0;

/// What was measured, and what had been predicted.
pub(super) struct Measured {
    pub machine: String,
    pub backend: &'static str,
    /// The last one is the model's own choice.
    pub samples: Vec<Sample>,
    pub disturbed: usize,
    pub caution: Option<String>,
    pub counter: Option<CounterReport>,
}

pub(super) fn on_cpu(
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

pub(super) fn on_gpu(
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
            Counter::Simulated(Box::new(meter.wrapping_after(FIRST_WRAP_J)), &spent)
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
