//! A program that was built, and its runs.

use crate::buffers::{Buffers, Elements};
use crate::device::{self, Arrays};
use crate::errors::{exception, raised};
use crate::interpreter::{attached, detached};
use crate::watched::{watched, watched_to_the_end};
use execution::ExecutionError;
use execution::grid::{ProgramData, ValuesMut};
use polyhedral::arithmetic::Arithmetic;
use polyhedral::program::{FieldId, FieldRole, SeriesId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use tilewright::choice::TileBy;
use tilewright::runner::Runner;
use tilewright::{Backend, BuildRequest, Observer, RunRequest, Stencil, Tiling};
use toolchain::driver::Failure;

/// What is to be built.
#[derive(FromPyObject)]
pub struct Request {
    size: Vec<i64>,
    steps: i64,
    backend: String,
    strategy: String,
    tile: Option<String>,
    machine: Option<String>,
    threads: Option<usize>,
    tile_by: String,
    calibrate: bool,
    contract: bool,
    seed: u64,
    device: usize,
}

/// A built program.
#[pyclass(frozen, module = "tilewright._tilewright")]
pub struct Built {
    stencil: Arc<Stencil>,
    // Runs take turns: that of a device has one context, and compiled code uses all threads anyway.
    built: Arc<Mutex<tilewright::Built>>,
    // The thread whose turn it is to run on arrays of its caller's: a handler of signals comes back on the same one.
    running: Mutex<Option<ThreadId>>,
    #[pyo3(get)]
    strategy: Option<String>,
    #[pyo3(get)]
    tile: Option<String>,
    #[pyo3(get)]
    notes: Vec<String>,
    #[pyo3(get)]
    compiler: Option<String>,
    in_place: bool,
    device: usize,
}

/// Passes what is said on the way to Python's logging.
struct Log;

impl Observer for Log {
    fn begin(&self, stage: &'static str, _parts: u64) {
        // Who is left to itself after Ctrl-C may outlive Python.
        if stage == tilewright::here::STAGE && !toolchain::interrupt::requested() {
            attached(|py| {
                let told = py.import("tilewright._log").and_then(|log| log.call_method1("tell", (stage,)));
                // A logger that fails does not stop the work.
                let _ = told;
            });
        }
    }
}

impl Built {
    /// Builds on a thread of its own, so that Ctrl-C is seen and stops it.
    pub fn of(py: Python<'_>, stencil: &Arc<Stencil>, request: Request) -> PyResult<Built> {
        let machine = request.machine.as_deref().map(tilewright::machines::machine).transpose();
        let machine = raised(py, machine)?;
        let tile = request.tile.as_deref().map(hhc_codegen::TileSizes::parse).transpose();
        let tile = raised(py, tile.map_err(tilewright::Error::from))?;
        let backend = backend(&request.backend)?;
        let tile_by = tile_by(&request.tile_by)?;
        let (shared, device) = (Arc::clone(stencil), request.device);
        let built = watched(py, move || {
            let wanted = BuildRequest {
                tiling: Tiling { strategy: request.strategy, tile },
                machine: machine.as_ref(),
                threads: request.threads,
                tile_by,
                calibrate: request.calibrate,
                arithmetic: Arithmetic { contract: request.contract, approximate: false },
                seed: request.seed,
                device,
                ..BuildRequest::new(backend, &request.size, request.steps)
            };
            tilewright::build(&shared, &wanted, &Log)
        })?;
        let built = raised(py, built)?;
        let plan = built.planned.as_ref().map(|planned| &planned.plan);
        Ok(Built {
            stencil: Arc::clone(stencil),
            strategy: plan.map(|plan| plan.strategy.to_owned()),
            tile: plan.map(|plan| plan.tile.to_string()),
            notes: built.notes.clone(),
            compiler: built.compiler.clone(),
            in_place: matches!(built.runner, Runner::OpenMp(..)),
            device,
            built: Arc::new(Mutex::new(built)),
            running: Mutex::new(None),
        })
    }
}

#[pymethods]
impl Built {
    /// Whether it works on arrays with strides, where they lie; others take arrays without gaps.
    #[getter]
    fn in_place(&self) -> bool {
        self.in_place
    }

    /// Runs all steps on `levels`, one array for each slot of each field, which hold the initial levels first and the newest
    /// ones afterwards. Strides are in elements.
    #[allow(clippy::too_many_arguments)]
    fn run(
        &self,
        py: Python<'_>,
        levels: Vec<Bound<'_, PyAny>>,
        series: Vec<Bound<'_, PyAny>>,
        size: Vec<i64>,
        outer_strides: Vec<i64>,
        steps: i64,
        parameters: Vec<f64>,
        threads: Option<usize>,
    ) -> PyResult<()> {
        let program = &*self.stencil.program;
        let mut buffers = Buffers::hold(program, &levels, &series, &size, &outer_strides)?;
        if !self.in_place {
            return self.run_copied(py, &mut buffers, &size, steps, parameters);
        }
        let mut levels = buffers.levels(py, program, &size, &outer_strides)?;
        if *self.running.lock().unwrap_or_else(PoisonError::into_inner) == Some(thread::current().id()) {
            let reason =
                "this thread is within a run of the same stencil, which a handler of signals has interrupted";
            return Err(exception(py, &tilewright::Error::infeasible(reason)));
        }
        let mut signal = None;
        let result = detached(py, || {
            let built = Locked::of(self);
            let before = built.threads(threads);
            let mut progress = |_| match attached(|py| py.check_signals()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(found) => {
                    signal = Some(found);
                    ControlFlow::Break(())
                }
            };
            let result = tilewright::run_in_place(
                &self.stencil,
                &built.built,
                &parameters,
                &mut levels,
                steps,
                &mut progress,
            );
            built.threads(before);
            result
        });
        match signal {
            Some(signal) => Err(signal),
            None => raised(py, result),
        }
    }

    /// Runs all steps on arrays on the device that this was built for, after what `streams` were given. Addresses are those
    /// of the device; strides are in elements. What lies elsewhere than on the device is refused; that the arrays have
    /// the elements that they are said to have is what their owners say.
    fn run_on_device(
        &self,
        py: Python<'_>,
        arrays: Arrays,
        size: Vec<i64>,
        steps: i64,
        parameters: Vec<f64>,
        streams: Vec<u64>,
    ) -> PyResult<()> {
        let mut levels = device::levels(&self.stencil.program, &arrays, &size, self.device)?;
        // On this thread: one of the streams may be its own.
        let failed = |failure: Failure| failure.during("wait for what its arrays come from").into();
        let waited: tilewright::Result<()> = detached(py, || {
            let built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
            let Runner::Cuda(_, device) = &built.runner else { return Ok(()) };
            device::wait_for(device, &streams).map_err(failed)
        });
        raised(py, waited)?;
        // The arrays are their owners' again when this returns.
        let run = watched_to_the_end(py, || {
            let built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
            tilewright::run_on_device(&built, &parameters, &mut levels, steps)
        });
        raised(py, run?)
    }
}

impl Built {
    /// Runs on a grid of its own, which the arrays are copied to and from.
    fn run_copied(
        &self,
        py: Python<'_>,
        buffers: &mut Buffers,
        size: &[i64],
        steps: i64,
        parameters: Vec<f64>,
    ) -> PyResult<()> {
        let program = &*self.stencil.program;
        let slots: Vec<(FieldId, usize)> = program
            .fields
            .iter()
            .enumerate()
            .flat_map(|(field, data)| (0..data.role.slots()).map(move |slot| (FieldId(field), slot)))
            .collect();
        let failed = |error: ExecutionError| exception(py, &error.into());
        let mut data = ProgramData::zeroed(program, size).map_err(failed)?;
        data.set_steps(program, steps).map_err(failed)?;
        for (number, &(field, slot)) in slots.iter().enumerate() {
            data.slot_mut(field, slot).copy_from(buffers.elements(number));
        }
        for number in 0..program.series.len() {
            let values = data.series_mut(SeriesId(number));
            let length = match &values {
                ValuesMut::F32(values) => values.len(),
                ValuesMut::F64(values) => values.len(),
            };
            let given = buffers.elements(slots.len() + number);
            if given.len() < length {
                let message = format!("a series has {} values, and needs {length}", given.len());
                return Err(PyValueError::new_err(message));
            }
            values.copy_from(match given {
                Elements::F32(given) => Elements::F32(&given[..length]),
                Elements::F64(given) => Elements::F64(&given[..length]),
            });
        }
        execution::initial::prepare_boundary(program, &mut data).map_err(failed)?;
        let request = RunRequest { steps, parameters, repeat: 1, verify: false };
        let (stencil, built) = (Arc::clone(&self.stencil), Arc::clone(&self.built));
        let run = watched(py, move || {
            let built = built.lock().unwrap_or_else(PoisonError::into_inner);
            tilewright::run(&stencil, &built, &request, &mut data, &Log).map(|_| data)
        });
        let data = raised(py, run?)?;
        for (number, &(field, slot)) in slots.iter().enumerate() {
            if program.field(field).role != FieldRole::Coefficient {
                buffers.write(number, data.slot(field, slot));
            }
        }
        Ok(())
    }
}

/// The turn of the thread that has taken it.
struct Locked<'a> {
    built: MutexGuard<'a, tilewright::Built>,
    running: &'a Mutex<Option<ThreadId>>,
}

impl Locked<'_> {
    fn of(whole: &Built) -> Locked<'_> {
        let built = whole.built.lock().unwrap_or_else(PoisonError::into_inner);
        let running = &whole.running;
        *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
        Locked { built, running }
    }

    /// Sets the number of threads of compiled code, where one is given; returns the one before.
    fn threads(&self, wanted: Option<usize>) -> Option<usize> {
        let Runner::OpenMp(native, _) = &self.built.runner else { return None };
        let wanted = wanted?;
        let before = native.library().threads();
        native.library().set_threads(wanted);
        before
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

fn backend(name: &str) -> PyResult<Backend> {
    let known = [Backend::OpenMp, Backend::Cuda, Backend::Emulator, Backend::Reference];
    let found = known.into_iter().find(|backend| backend.name() == name);
    found.ok_or_else(|| PyValueError::new_err(format!("there is no backend {name:?}")))
}

fn tile_by(name: &str) -> PyResult<TileBy> {
    Ok(match name {
        "auto" => TileBy::Guarded,
        "model" => TileBy::Model,
        "measure" => TileBy::Measure,
        "default" => TileBy::Default,
        _ => return Err(PyValueError::new_err(format!("there is no tile_by {name:?}"))),
    })
}
