//! Grids, compilers, the interpreter, the emulator and devices. One program for all, which is linked once.
#![allow(clippy::unwrap_used, dead_code)]

mod cuda;
mod emulator;
mod emulator_faults;
mod emulator_generated;
mod emulator_traffic;
mod emulator_warps;
mod initial;
mod layout;
mod native;
mod periodic;
mod reference;
mod support;
