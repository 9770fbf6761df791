//! What runs a program: the reference interpreter, compiled C, the CUDA emulator or a GPU, called in one way.

use crate::pace;
use execution::cuda::{CudaProgramOnDevice, DeviceRun};
use execution::emulator::{Emulator, EmulatorReport, ThreadOrder};
use execution::grid::ProgramData;
use execution::native::NativeProgram;
use execution::{ExecutionError, reference};
use polyhedral::program::Program;
use std::ops::ControlFlow;
use std::time::Instant;
use toolchain::driver::Device;

/// What to run.
pub struct Job<'a> {
    /// The program.
    pub program: &'a Program,
    /// One value for each of its parameters.
    pub parameters: &'a [f64],
    /// Number of time steps.
    pub steps: i64,
}

/// One run.
#[derive(Debug)]
pub struct Run {
    /// Its time, without copies to and from a device.
    pub seconds: f64,
    /// Kernel launches, where they are counted.
    pub launches: Option<u64>,
    /// What the emulator's checks found.
    pub emulator: Option<EmulatorReport>,
}

impl Run {
    /// What a device has measured.
    pub(crate) fn on_device(measured: &DeviceRun) -> Run {
        Run { seconds: measured.seconds, launches: Some(measured.launches), emulator: None }
    }
}

/// What runs the program.
pub enum Runner {
    /// The interpreter.
    Reference,
    /// Compiled C, with the number of time steps of a band of its tiles.
    OpenMp(NativeProgram, i64),
    /// The CUDA kernels on the CPU, threads in this order.
    Emulator(Box<Emulator>, ThreadOrder),
    /// The CUDA kernels on a device.
    Cuda(Box<CudaProgramOnDevice>, Device),
}

impl Runner {
    /// Runs all steps from the initial levels in `data` and leaves the newest levels there; `progress` gets the
    /// number of steps done, where that is known before the end.
    ///
    /// # Errors
    /// As for the back ends.
    pub fn run(
        &self,
        job: &Job<'_>,
        data: &mut ProgramData,
        progress: &dyn Fn(i64),
    ) -> std::result::Result<Run, ExecutionError> {
        let Job { program, parameters, steps } = *job;
        let start = Instant::now();
        let mut run = Run { seconds: 0.0, launches: None, emulator: None };
        match self {
            Runner::Reference => {
                reference::run(program, parameters, data, steps, &mut |done| {
                    progress(done);
                    ControlFlow::Continue(())
                })?;
            }
            Runner::OpenMp(native, band) => {
                let speed = pace::Speed::of(program);
                let points = data.points();
                let work = pace::Work { program, native, band: *band, speed: &speed, points, steps };
                let mut piece = |done, now| native.run_on(program, parameters, data, done, now);
                pace::run(&work, &mut piece, &mut |done| {
                    progress(done);
                    ControlFlow::Continue(())
                })?;
            }
            Runner::Emulator(emulator, order) => {
                let report = emulator.run(parameters, data, steps, *order)?;
                run.launches = Some(report.launches);
                run.emulator = Some(report);
            }
            Runner::Cuda(loaded, _) => {
                let mut on_device = loaded.upload(data)?;
                let measured = loaded.run(parameters, &mut on_device, steps)?;
                loaded.download(&on_device, data)?;
                return Ok(Run::on_device(&measured));
            }
        }
        run.seconds = start.elapsed().as_secs_f64();
        Ok(run)
    }

    /// Threads of the CPU that compute; none where a device does.
    pub fn threads(&self) -> Option<usize> {
        match self {
            Runner::Reference => Some(rayon::current_num_threads()),
            Runner::OpenMp(native, _) => Some(native.library().threads().unwrap_or(1)),
            Runner::Emulator(..) => Some(1),
            Runner::Cuda(..) => None,
        }
    }

    /// Name of the device, where one computes.
    pub fn device(&self) -> Option<String> {
        match self {
            Runner::Cuda(_, device) => Some(device.facts().name.clone()),
            _ => None,
        }
    }
}
