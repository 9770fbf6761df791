//! A built stencil run on arrays, as often as asked for, and its result compared with the reference.

use crate::build::Built;
use crate::contest;
use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::observer::{Observer, stage, stage_of};
use crate::runner::{Job, Run, Runner};
use execution::compare::{Comparison, checksum, compare};
use execution::cuda::{CudaProgramOnDevice, DeviceData};
use execution::grid::ProgramData;
use execution::reference;
use hhc_codegen::plan_counts;
use toolchain::clock::Timing;
use toolchain::interference::Watch;
use toolchain::interrupt;

/// How to run.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// Time steps.
    pub steps: i64,
    /// One value for each parameter, in order of declaration.
    pub parameters: Vec<f64>,
    /// Runs that count; with more than one, another one before them warms up.
    pub repeat: usize,
    /// Whether to compare the result with that of the reference interpreter.
    pub verify: bool,
}

impl RunRequest {
    /// One run with the default parameters.
    pub fn new(stencil: &Stencil, steps: i64) -> RunRequest {
        let parameters = reference::default_parameters(&stencil.program);
        RunRequest { steps, parameters, repeat: 1, verify: false }
    }
}

/// What runs have shown.
#[derive(Debug)]
pub struct Measured {
    /// The times of the runs that count.
    pub timing: Timing,
    /// The last run.
    pub last: Run,
    /// How the result differs from the reference; `None` where that was not asked for.
    pub comparison: Option<Comparison>,
    /// Checksum of the newest level of all state fields.
    pub checksum: u64,
    /// Points computed per step; a point counts once, whatever the number of statements.
    pub points_per_step: u64,
    /// Points computed per second of the median run, in units of 10^9.
    pub gstencil_per_s: f64,
}

/// Runs; `data` start as the initial values and end as the result.
///
/// # Errors
/// Arrays that are not those of the stencil, failures of the back end, and memory for a second copy of the arrays.
pub fn run(
    stencil: &Stencil,
    built: &Built,
    request: &RunRequest,
    data: &mut ProgramData,
    observer: &dyn Observer,
) -> Result<Measured> {
    let program = &stencil.program;
    let job = Job { program, parameters: &request.parameters, steps: request.steps };
    let repeat = request.repeat.max(1);
    let on_device = matches!(built.runner, Runner::Cuda(..));
    let keep_initial = request.verify || (repeat > 1 && !on_device);
    let mut initial = keep_initial.then(|| data.try_clone()).transpose()?;
    let kept = built.whole_runs.as_ref().map(|runs| (runs, Watch::start()));
    let (timing, last) = measure(&job, &built.runner, repeat, data, initial.as_ref(), observer)?;
    if let Some((runs, watch)) = kept
        && watch.others().is_none_or(|others| others <= contest::BUSY)
    {
        runs.keep(data.size(), request.steps, timing.median);
    }
    let comparison = match (&mut initial, request.verify) {
        (Some(expected), true) => {
            stage_of(observer, "reference", request.steps as u64, |progress| {
                Runner::Reference.run(&job, expected, progress)
            })?;
            Some(stage(observer, "compare", || compare(program, data, expected, request.steps)))
        }
        _ => None,
    };
    drop(initial);
    let checksum = stage(observer, "checksum", || checksum(program, data, request.steps));
    let points_per_step = plan_counts::points_per_step(program, data.size());
    let updates = points_per_step as f64 * request.steps as f64;
    let gstencil_per_s = if timing.median > 0.0 { updates / timing.median * 1e-9 } else { 0.0 };
    Ok(Measured { timing, last, comparison, checksum, points_per_step, gstencil_per_s })
}

/// Runs as often as asked for, after one run to warm up where that is more than once.
fn measure(
    job: &Job<'_>,
    runner: &Runner,
    repeat: usize,
    data: &mut ProgramData,
    initial: Option<&ProgramData>,
    observer: &dyn Observer,
) -> Result<(Timing, Run)> {
    let warm_up = usize::from(repeat > 1);
    let total = (warm_up + repeat) as i64 * job.steps;
    stage_of(observer, "run", total as u64, |progress| {
        let mut arrays = Arrays::of(runner, data, repeat > 1)?;
        let mut seconds_all = Vec::with_capacity(repeat);
        for number in 0..warm_up + repeat {
            interrupt::check()?;
            if number > 0 {
                arrays.restart(initial)?;
            }
            let before = number as i64 * job.steps;
            let run = arrays.run(job, &|done| progress(before + done))?;
            if number >= warm_up {
                seconds_all.push(run.seconds);
            }
            if number + 1 == warm_up + repeat {
                arrays.finish()?;
                let timing = Timing::of(seconds_all);
                return timing.map(|timing| (timing, run)).ok_or_else(|| Error::internal("no run was timed"));
            }
        }
        Err(Error::internal("nothing was run"))
    })
}

/// The arrays of repeated runs. Those on a device stay there in between.
enum Arrays<'a> {
    Host {
        runner: &'a Runner,
        data: &'a mut ProgramData,
    },
    Device {
        loaded: &'a CudaProgramOnDevice,
        data: &'a mut ProgramData,
        own: Box<DeviceData>,
        initial: Option<Box<DeviceData>>,
    },
}

impl<'a> Arrays<'a> {
    /// For runs of `runner` from `data`; `again` where they are to start from there more than once.
    fn of(runner: &'a Runner, data: &'a mut ProgramData, again: bool) -> Result<Arrays<'a>> {
        let Runner::Cuda(loaded, _) = runner else { return Ok(Arrays::Host { runner, data }) };
        let own = Box::new(loaded.upload(data)?);
        let initial = if again { loaded.duplicate(&own)?.map(Box::new) } else { None };
        Ok(Arrays::Device { loaded, data, own, initial })
    }

    /// Back to the initial levels; host arrays that runs overwrite need `kept`.
    fn restart(&mut self, kept: Option<&ProgramData>) -> Result<()> {
        match self {
            Arrays::Host { data, .. } => kept.into_iter().for_each(|kept| data.copy_from(kept)),
            Arrays::Device { loaded, data, own, initial } => match initial {
                Some(initial) => loaded.restore(initial, own)?,
                None => loaded.refill(data, own)?,
            },
        }
        Ok(())
    }

    fn run(&mut self, job: &Job<'_>, progress: &dyn Fn(i64)) -> Result<Run> {
        Ok(match self {
            Arrays::Host { runner, data } => runner.run(job, data, progress)?,
            Arrays::Device { loaded, own, .. } => {
                Run::on_device(&loaded.run(job.parameters, own, job.steps)?)
            }
        })
    }

    /// Leaves the newest levels in the host's arrays.
    fn finish(&mut self) -> Result<()> {
        match self {
            Arrays::Host { .. } => {}
            Arrays::Device { loaded, data, own, .. } => loaded.download(own, data)?,
        }
        Ok(())
    }
}
