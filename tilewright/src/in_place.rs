//! A built stencil run on arrays of the caller's, where they lie.

use crate::build::Built;
use crate::error::{Error, Result};
use crate::load::Stencil;
use crate::pace;
use crate::runner::Runner;
use execution::cuda::LevelsOnDevice;
use execution::levels::Levels;
use std::ops::ControlFlow;

/// Runs all steps on `levels`, whose slots start as the initial levels and end as the newest ones; `progress` gets the
/// number of steps done about twice a second, and whether it goes on. Where some bands of tiles take longer, it is called
/// less often: about every second, or after each band.
///
/// # Errors
/// A back end other than compiled C, and its failures; an interruption where `progress` breaks: the levels are then those
/// after the number of steps that it got last.
pub fn run_in_place(
    stencil: &Stencil,
    built: &Built,
    parameters: &[f64],
    levels: &mut Levels<'_>,
    steps: i64,
    progress: &mut dyn FnMut(i64) -> ControlFlow<()>,
) -> Result<()> {
    let Runner::OpenMp(native, band) = &built.runner else {
        return Err(Error::wrong_input("only compiled C works on arrays where they lie"));
    };
    let program = &*stencil.program;
    let points = levels.points(program);
    let work = pace::Work { program, native, band: *band, speed: &built.speed, points, steps };
    let mut piece = |done, now| native.run_levels(program, parameters, levels, done, now);
    Ok(pace::run(&work, &mut piece, progress)?)
}

/// Runs all steps on arrays on the device that the stencil was built for, and waits for their end.
///
/// # Errors
/// A back end other than CUDA, and its failures; an interruption of the [`Cancel`](crate::Cancel) token in whose scope it is:
/// what was to be written holds anything then.
pub fn run_on_device(
    built: &Built,
    parameters: &[f64],
    arrays: &mut LevelsOnDevice,
    steps: i64,
) -> Result<()> {
    let Runner::Cuda(loaded, _) = &built.runner else {
        return Err(Error::wrong_input("only the back end cuda works on arrays on a device"));
    };
    loaded.run_levels(parameters, arrays, steps)?;
    Ok(())
}
