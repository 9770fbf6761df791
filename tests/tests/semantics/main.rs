//! One semantics: what is planned, printed and compiled computes exactly what the program means.
//!
//! - [`shipped`] and [`programs`]: generated C against the reference interpreter, bit for bit;
//! - [`random`]: random programs, tiles and sizes, by [`replay`] of the plan and by compiled code;
//! - [`faults`]: plans and texts with one mistake in them must be refused or found;
//! - [`storages`], [`wavefronts`]: memory of blocks' own, and rows whose points follow each other;
//! - [`sweeps`]: points that follow each other within a sweep, and time skewing;
//! - [`together`]: statements that share values, in one row;
//! - [`colours`]: points that take turns, by conditions on indices;
//! - [`names`], [`standalone`], [`cuda_host`]: names that collide, and the programs that users build by hand;
//! - [`ranks`], [`simulated`]: programs spread over ranks of MPI, and on a cluster that is simulated;
//! - [`performance`]: times that a user would notice.

#![allow(clippy::unwrap_used)]

mod colours;
mod cuda_host;
mod faults;
mod harness;
mod names;
mod performance;
mod programs;
mod random;
mod ranks;
mod replay;
mod shipped;
mod simulated;
mod standalone;
mod storage_faults;
mod storage_replay;
mod storages;
mod sweeps;
mod together;
mod wavefronts;
