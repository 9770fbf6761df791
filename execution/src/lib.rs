//! Stencil programs run: by an interpreter, as compiled C, as CUDA on a device or emulated; compared, timed, calibrated.
//!
//! [`grid`] holds the fields of a program in a [`layout`], filled by [`initial`] or from [`npy`] files. Then either
//! [`mod@reference`] interprets the program, or generated text goes through [`toolchain`] to a shared object that
//! [`native`] calls, to the [`emulator`], or to a device by [`cuda`]. [`compare`] tells whether two results agree,
//! [`bandwidth`] how fast the memory is, [`calibrate`] what the models must know of a machine.
//!
//! ```
//! use execution::{grid::ProgramData, initial, reference, tiled};
//! use hhc_codegen::strategy::{self, Target};
//! use hhc_codegen::{TileSizes, pipeline};
//! use std::sync::Arc;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let heat = Arc::new(polyhedral::shipped::load("heat2d").ok_or("it is shipped")?);
//!     let planned = pipeline::plan(&heat, strategy::preferred(), &TileSizes::default(), Target::OpenMp)?;
//!     let tiled = tiled::load(&planned.plan)?;
//!
//!     let (parameters, steps) = (reference::default_parameters(&heat), 10);
//!     let mut expected = ProgramData::zeroed(&heat, &[60, 70])?;
//!     initial::fill_random(&heat, &mut expected, 1)?;
//!     let mut found = expected.try_clone()?;
//!     reference::run_quietly(&heat, &parameters, &mut expected, steps)?;
//!     tiled.native.run(&heat, &parameters, &mut found, steps)?;
//!     assert_eq!(execution::compare::compare(&heat, &expected, &found, steps).mismatches, 0);
//!     Ok(())
//! }
//! ```
//!
//! The features `cuda` and `nvml` are those of [`toolchain`].

// Data.
mod around;
mod buffer;
pub mod compare;
pub mod element;
pub mod grid;
pub mod initial;
pub mod layout;
pub mod levels;
pub mod npy;
pub mod output_file;
pub mod output_folder;

// The reference interpreter.
mod libm;
pub mod reference;
mod row;

// Compiled code.
pub mod native;
pub mod ranks;
pub mod tiled;

// Whole programs of the user's.
pub mod equivalence;

// CUDA kernels, on the processor and on a device.
pub mod cuda;
pub mod device_program;
pub mod emulator;
pub mod launches;

// The surroundings.
pub mod bandwidth;
pub mod calibrate;
pub mod energy;
pub mod error;
pub mod trials;

pub use error::{ExecutionError, Result};
