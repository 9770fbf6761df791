//! Plans, their proofs and their text. One program for all, which is linked once.
#![allow(clippy::unwrap_used)]

mod cuda;
mod cuda_emulated;
mod families;
mod flow;
mod several_statements;
mod table;
mod text;
mod two_levels;
mod windows;
