//! Everything that touches memory, a compiler, a device or a clock.
//!
//! The road: [`grid`] holds the fields of a program in a [`layout`], filled by [`initial`] or from [`npy`] files. Then either
//! [`mod@reference`] interprets the program, or generated text goes through [`c_compiler`] and its [`cache`] to a
//! shared object that [`native`] loads and calls. [`compare`] tells whether two results agree, [`timing`] how
//! long a run takes on which [`machine`], [`bandwidth`] how fast its memory is.

// Data.
pub mod buffer;
pub mod compare;
pub mod element;
pub mod grid;
pub mod initial;
pub mod layout;
pub mod npy;
pub mod output_file;
pub mod output_folder;

// The reference interpreter.
mod libm;
pub mod reference;
mod row;

// Compiled code.
pub mod c_compiler;
pub mod cache;
pub mod native;
pub mod tiled;

// Whole programs of the user's.
pub mod child;
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
pub mod interference;
pub mod interrupt;
pub mod machine;
pub mod timing;
pub mod trials;

pub use error::{ExecutionError, Result};
