//! How a call is described to who chooses a tiling for it.

use polyhedral::program::Program;
use serde::Serialize;

/// Caches that a description compares a grid with, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Caches {
    /// What a thread has to itself before the last cache.
    pub near: u64,
    /// The last one, of all threads.
    pub last: u64,
}

/// The names of what [`features`] says, in order: extents, steps, threads, and the bytes of all arrays as parts of the threads'
/// near caches and of the last cache.
pub fn feature_names(program: &Program) -> Vec<String> {
    let sizes = (0..program.dimension()).map(|d| format!("n{d}"));
    sizes.chain(["steps", "threads", "near", "last"].map(str::to_owned)).collect()
}

/// What a call is like, to the last bit as the generated code computes it.
pub fn features(program: &Program, size: &[i64], steps: i64, threads: i64, caches: Caches) -> Vec<f64> {
    let bytes = size.iter().fold(program.bytes_of_a_point() as f64, |bytes, &extent| bytes * extent as f64);
    let near = bytes / (threads as f64 * caches.near as f64);
    let sizes = size.iter().map(|&extent| extent as f64);
    sizes.chain([steps as f64, threads as f64, near, bytes / caches.last as f64]).collect()
}

/// The name that the files and functions of the choice begin with.
pub fn prefix(program: &Program) -> String {
    format!("{}_choice", program.name)
}

/// The data of the templates about a choice.
#[derive(Serialize)]
pub(super) struct Choosing {
    pub(super) caches: Caches,
    pub(super) bytes_of_a_point: usize,
    pub(super) prefix: String,
    pub(super) tilings: Vec<Numbered>,
}

#[derive(Serialize)]
pub(super) struct Numbered {
    pub(super) number: usize,
    pub(super) text: String,
}
