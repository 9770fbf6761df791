//! Models against counts and against figures that are known. One program for all, which is linked once.
#![allow(clippy::unwrap_used)]

mod cpu_counts;
mod diagonals;
mod evidence;
mod explanations;
mod forms;
mod golden;
mod streams;
mod support;
