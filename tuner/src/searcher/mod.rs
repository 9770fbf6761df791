//! Searchers: how to look for the best configuration. One file each, and one line in [`all`].

mod annealing;
mod genetic;
mod greedy;
mod latin_hypercube;
mod linear_model;
mod random;
mod ranked;
mod registry;
mod starchart;
mod surrogate;

use crate::run::{Run, Stop};
pub use linear_model::{Choice, Decide, Decider, Proposal};
pub use registry::{SearchOptions, all, named};

/// A way to search.
pub trait Searcher: Sync + Send {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in one sentence.
    fn about(&self) -> &'static str;

    /// Asks `run` for measurements until it is done or is stopped. Ends with `Ok` where the searcher itself has
    /// nothing left to ask for.
    ///
    /// # Errors
    /// [`Stop`], as [`Run::measure`] says it.
    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop>;
}
