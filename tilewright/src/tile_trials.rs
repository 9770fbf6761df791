//! A stencil with one tiling after another, compiled, run, checked and timed on this machine's CPU.
//!
//! A result counts only if it has the bits of the baseline, one plain sweep per step.

use crate::error::Result;
use crate::load::Stencil;
use crate::record;
use execution::compare::checksum;
use execution::grid::ProgramData;
use execution::layout::Layout;
use execution::native::NativeProgram;
use execution::tiled::{self, Tiled};
use execution::{ExecutionError, initial};
use hhc_codegen::plan_counts::steps_of_tile;
use hhc_codegen::strategy::{self, Along, Strategy, Target};
use hhc_codegen::{PlanError, TileSizes, pipeline};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toolchain::interrupt;
use trials::{Metric, Outcome, Parameter, Setting, Status, Value};
use tuner::evaluator::Evaluator;
use tuner::{Point, Space, TunerError};

/// What is measured.
pub struct Job {
    /// The stencil.
    pub stencil: Arc<Stencil>,
    /// Grid extents, slowest dimension first.
    pub size: Vec<i64>,
    /// Number of time steps.
    pub steps: i64,
    /// One value for each of its parameters.
    pub parameters: Vec<f64>,
    /// Strategy of the tilings.
    pub strategy: &'static dyn Strategy,
    /// Runs that count; the median is the response `seconds`.
    pub runs: usize,
    /// Longest time of one run; it is stopped there.
    pub timeout: Duration,
}

/// Measures tilings of a stencil.
pub struct TileTrials {
    job: Job,
    space: Space,
    initial: ProgramData,
    expected: u64,
    setting: Setting,
    /// The grid that runs work on.
    work: Mutex<ProgramData>,
}

/// Wanted length of a piece of a run in seconds.
const PIECE_SECONDS: f64 = 0.8;
/// A piece is at least so many bands of tiles: it starts and ends with partial tiles, which cost time.
const LEAST_BANDS: i64 = 16;

/// Name of the response.
pub const RESPONSE: &str = "seconds";

/// The tile sizes of a strategy as a space: of each size the defaults and powers of two around them, as far as the
/// grid is large; with `optional`, also of sizes that may be left out what their strategy says: no model knows them.
///
/// # Errors
/// A program that cannot be analysed.
pub fn tile_space(
    stencil: &Stencil,
    strategy: &dyn Strategy,
    (size, steps): (&[i64], i64),
    optional: bool,
) -> Result<Space> {
    let analysis = stencil.analysis()?;
    let tile = default_tile(stencil, strategy)?;
    let mut parameters = Vec::new();
    let own_space = strategy.space(&stencil.program, &analysis.cone);
    let mut sizes = own_space.sizes;
    sizes.sort_by_key(|size| size.name);
    for own in sizes {
        let (name, default) = (own.name, tile.get(own.name).unwrap_or(own.least));
        let (low, high, unit) = match own.along {
            Along::Space(dimension) => {
                let extent = size.get(dimension).copied().unwrap_or(1).max(1);
                let innermost = dimension + 1 == size.len();
                (if innermost { 16 } else { 4 }, extent.min(if innermost { 4096 } else { 512 }), 1)
            }
            Along::Time { rows_per_step } => (1, steps.clamp(1, 64), rows_per_step),
        };
        let mut levels: Vec<i64> = (0..20).map(|power| (1i64 << power) * unit).collect();
        levels.extend((1..19).map(|power| 3 * (1i64 << (power - 1)) * unit));
        levels.retain(|&level| (low * unit..=high * unit).contains(&level));
        levels.push(default);
        parameters.push(Parameter::new(name, levels.into_iter().map(Value::Integer).collect())?);
    }
    if optional {
        let tried =
            own_space.optional.iter().filter(|own| own.target == Target::OpenMp && !own.tried.is_empty());
        for own in tried {
            let levels = own.tried.iter().copied().filter(|&value| value <= steps.max(1));
            parameters.push(Parameter::new(own.size.name, levels.map(Value::Integer).collect())?);
        }
    }
    Ok(Space::new(parameters, &[])?)
}

/// The strategy's own choice.
fn default_tile(stencil: &Stencil, strategy: &dyn Strategy) -> Result<TileSizes> {
    let (program, analysis) = (&stencil.program, stencil.analysis()?);
    strategy::taken(strategy, program, &analysis.cone)?;
    let defaults = strategy.default_tile(program, &analysis.cone, Target::OpenMp);
    let space = strategy.space(program, &analysis.cone);
    Ok(space.complete(strategy.id(), &TileSizes::default(), &defaults)?)
}

/// The strategy's own choice, where it is in the space: a good point to start with.
///
/// # Errors
/// A program that cannot be planned.
pub fn default_point(stencil: &Stencil, strategy: &dyn Strategy, space: &Space) -> Result<Option<Point>> {
    let tile = default_tile(stencil, strategy)?;
    let own_space = strategy.space(&stencil.program, &stencil.analysis()?.cone);
    let values: Vec<Value> = space
        .parameters()
        .iter()
        .filter_map(|parameter| {
            let left_out = || own_space.optional(parameter.name()).map(|own| own.left_out);
            tile.get(parameter.name()).or_else(left_out).map(Value::Integer)
        })
        .collect();
    Ok(space.point(&values).ok().filter(|point| space.is_valid(point)))
}

impl TileTrials {
    /// Prepares the grid and the expected result.
    ///
    /// # Errors
    /// Memory, a compiler that is missing, a program that cannot be planned.
    pub fn new(job: Job, space: &Space) -> Result<TileTrials> {
        let failed = |error: ExecutionError| execution_failed(&error);
        let program = &job.stencil.program;
        let layout = Layout::padded(program, &job.size).map_err(failed)?;
        let initial = initial::random(program, layout, job.steps, 1).map_err(failed)?;
        let mut work = initial.try_clone().map_err(failed)?;
        let compiled = compiled(&job.stencil, strategy::baseline_for(program), &TileSizes::default());
        let Compiled { native, command, .. } = match compiled {
            Ok(compiled) => compiled,
            Err(Failure::Trial(_, reason)) => {
                return Err(TunerError::Infeasible { reason, hint: String::new() }.into());
            }
            Err(Failure::Error(error)) => return Err(error.into()),
        };
        let steps = job.steps;
        native
            .run_in_chunks(program, &job.parameters, &mut work, steps, steps.max(1), &mut |_| {
                ControlFlow::Continue(())
            })
            .map_err(failed)?;
        let expected = checksum(program, &work, job.steps);
        let setting = record::setting(program, job.strategy.id(), "openmp", &job.size, job.steps, "search");
        let setting = record::on_cpu(setting, native.library().threads().unwrap_or(1), &command);
        Ok(TileTrials { job, space: space.clone(), initial, expected, setting, work: Mutex::new(work) })
    }

    /// The tile sizes of a point.
    pub fn tile(&self, point: &Point) -> TileSizes {
        tile_of(&self.space, point)
    }

    fn measure(&self, point: &Point) -> std::result::Result<Vec<f64>, Failure> {
        let Compiled { native, band, .. } =
            compiled(&self.job.stencil, self.job.strategy, &self.tile(point))?;
        let Ok(mut data) = self.work.lock() else {
            return Err(Failure::Trial(Status::RunError, "an earlier run failed badly".to_owned()));
        };
        let mut seconds = Vec::with_capacity(self.job.runs);
        let Job { stencil, parameters, steps, .. } = &self.job;
        let program = &stencil.program;
        let unit = execution::native::chunk_unit(program);
        // The first run warms up, shows whether the result is right and how long it takes. The others are one piece, or
        // long ones where a run is long, so that it can be stopped.
        let mut piece = (((steps / 8).max(1) / unit + 1) * unit).max(1);
        for run in 0..=self.job.runs.max(1) {
            interrupt::check().map_err(ExecutionError::from)?;
            data.copy_from(&self.initial);
            let start = Instant::now();
            let late = &mut |_| {
                let late = start.elapsed() > self.job.timeout;
                if late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            native.run_in_chunks(program, parameters, &mut data, *steps, piece, late)?;
            let elapsed = start.elapsed();
            if elapsed > self.job.timeout {
                let limit = self.job.timeout.as_secs_f64();
                return Err(Failure::Trial(Status::Timeout, format!("a run took longer than {limit} s")));
            }
            if run == 0 {
                let pace = *steps as f64 / elapsed.as_secs_f64().max(1e-6);
                piece = ((pace * PIECE_SECONDS) as i64).max(LEAST_BANDS * band).clamp(1, (*steps).max(1));
            }
            if run > 0 {
                seconds.push(elapsed.as_secs_f64());
            } else if checksum(program, &data, *steps) != self.expected {
                let message = "the result differs from that of the plain loops".to_owned();
                return Err(Failure::Trial(Status::WrongResult, message));
            }
        }
        Ok(seconds)
    }
}

impl Evaluator for TileTrials {
    fn evaluate(&self, point: &Point) -> tuner::Result<Outcome> {
        let outcome = match self.measure(point) {
            Ok(seconds) => {
                let value = toolchain::clock::median(&seconds).unwrap_or(f64::NAN);
                let metric = Metric { value, repetitions: seconds, unit: "s".to_owned() };
                let metrics = BTreeMap::from([(RESPONSE.to_owned(), metric)]);
                Outcome { metrics, ..Outcome::measured(RESPONSE, value) }
            }
            Err(Failure::Trial(status, message)) => Outcome::failed(status, message),
            Err(Failure::Error(error)) => return Err(error),
        };
        Ok(outcome.now())
    }

    fn description(&self) -> String {
        self.setting.job.clone()
    }

    fn setting(&self) -> Setting {
        self.setting.clone()
    }
}

/// The tile sizes that a point of a space of tile sizes means.
pub fn tile_of(space: &Space, point: &Point) -> TileSizes {
    let values = space.numbers(point);
    let names = space.parameters().iter().map(Parameter::name);
    TileSizes::new(names.zip(values.into_iter().map(|value| value as i64)))
}

/// A failed trial, or an error.
enum Failure {
    Trial(Status, String),
    Error(TunerError),
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Failure {
        match error {
            ExecutionError::Toolchain(toolchain::Error::CompilerFailed { .. }) => {
                Failure::Trial(Status::CompileError, error.to_string())
            }
            ExecutionError::Generate(_) => Failure::Trial(Status::Invalid, error.to_string()),
            ExecutionError::Native { .. } | ExecutionError::Toolchain(toolchain::Error::Load { .. }) => {
                Failure::Trial(Status::RunError, error.to_string())
            }
            _ => Failure::Error(execution_failed(&error)),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        Failure::Trial(Status::Invalid, error.to_string())
    }
}

/// A tiling that can be run.
struct Compiled {
    native: NativeProgram,
    /// Time steps of a band of its tiles.
    band: i64,
    /// The compiler's command line.
    command: String,
}

fn compiled(
    stencil: &Stencil,
    strategy: &dyn Strategy,
    tile: &TileSizes,
) -> std::result::Result<Compiled, Failure> {
    let analysis = stencil.analysis().map_err(|error| Failure::Trial(Status::Invalid, error.to_string()))?;
    let planned =
        pipeline::plan_analysed(&stencil.program, &analysis, strategy, tile, Target::OpenMp, &mut |_, _| {})?;
    let Tiled { native, object } = tiled::load(&planned.plan)?;
    Ok(Compiled { native, band: steps_of_tile(&planned.plan), command: object.command })
}

fn execution_failed(error: &ExecutionError) -> TunerError {
    match error {
        ExecutionError::Interrupted => TunerError::Interrupted,
        _ => TunerError::Infeasible { reason: error.to_string(), hint: String::new() },
    }
}
