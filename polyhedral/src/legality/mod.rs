//! Legality: isl's proof that a schedule runs every instance exactly once and respects every dependence.
//!
//! For all sizes and step counts, with `D_k` the domain of statement `k` and `theta` the schedule:
//!
//! - **total**: every instance of `D_k` lies in a piece of the schedule;
//! - **once**: in one piece only, with one schedule vector;
//! - **injective**: two instances never share a vector;
//! - **ordered**: for every dependence `i -> j`, the first dimension in which `theta(i)` and `theta(j)`
//!   differ is sequential, and `theta(i)` is the smaller there;
//! - **full**: where a piece says that a tile is full, all of its instances lie in `D_k`, or none.
//!
//! Each statement is shown by the emptiness of its negation, first the quick way: on the whole integer
//! lattice instead of the domain, and for the convex hull of all distances between two statements at once.
//! Both only enlarge the set that must be empty. Where the enlarged set is not empty, the exact one
//! decides, and a point of it becomes the counter-example of the error.

mod error;
mod flow;
mod fullness;
mod instance;
mod order;
mod relations;
mod space;
mod together;
mod totality;
mod violation;
mod window;

use crate::dataflow::Dataflow;
use crate::dependence::Dependence;
use crate::isl::Context;
use crate::program::Program;
use crate::schedule::{Family, Schedule};
use crate::sweep::Sweep;
pub use error::LegalityError;
pub use flow::{FlowError, FlowKind};
pub use instance::{Instance, Problem, Scheduled};
use relations::Relations;
use std::time::Instant;
pub use violation::{Misorder, Violation};
pub use window::{WindowError, WindowKind};

/// What one proof may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// isl operations: allocations and simplex pivots.
    pub operations: u64,
    /// Seconds of the processor's time. Reading large schedules is not counted in operations.
    pub seconds: u64,
}

impl Default for Budget {
    /// Some seconds of work; a hexagonal schedule of three statements in two dimensions needs about a tenth of it.
    fn default() -> Budget {
        Budget { operations: 25_000_000, seconds: 12 }
    }
}

/// What was shown.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Proof {
    /// Number of dependences that the schedule was proved to respect.
    pub dependences: usize,
    /// Number of reads of rows and transfers whose values were proved to be where they are read, in plans with storage of
    /// their blocks' own, which need not respect the dependences of the arrays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<usize>,
    /// Number of relations that isl showed to be empty.
    pub relations: usize,
    /// Wall-clock time, in seconds.
    pub seconds: f64,
}

/// Proves that a schedule is legal for a program, for all sizes and step counts.
///
/// `dependences` are those of [`crate::dependence::dependences`].
///
/// # Errors
/// [`LegalityError`] says which of the five properties fails, with a counter-example.
pub fn prove(
    program: &Program,
    dependences: &[Dependence],
    schedule: &Schedule,
) -> Result<Proof, LegalityError> {
    prove_within(Budget::default(), program, dependences, schedule, &[])
}

/// [`prove`], within another budget, and of pieces that are families as a whole, as far as that holds.
///
/// # Errors
/// Those of [`prove`].
pub fn prove_within(
    budget: Budget,
    program: &Program,
    dependences: &[Dependence],
    schedule: &Schedule,
    families: &[Family],
) -> Result<Proof, LegalityError> {
    let start = Instant::now();
    let context = Context::new(budget.operations)?.within(budget.seconds);
    let mut relations = Relations::new(&context, program, schedule, None)?;
    totality::total(&mut relations)?;
    // What is given up here is asked of each piece by itself.
    let part = Context::new(budget.operations / 4)?.within(budget.seconds / 3);
    let together = together::shown(&part, program, dependences, schedule, families).ok().flatten();
    if together.is_none() {
        totality::once(&mut relations)?;
        totality::injective(&mut relations)?;
        order::respected(&mut relations, dependences)?;
        fullness::implied(&mut relations)?;
    }
    Ok(Proof {
        dependences: dependences.len(),
        reads: None,
        relations: relations.shown_empty() + together.unwrap_or(0),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Proves that a plan whose blocks have storage of their own is legal for a program, for all sizes and step counts:
/// the schedule runs every instance exactly once, as its owner's, and every value is where it is read (`legality/flow/mod.rs`).
///
/// Where the dataflow has bands of time, the schedule speaks of the bounds of a band by their names and does not define
/// them: both parts see a band as any interval that fits what is proved of all of them.
///
/// # Errors
/// [`LegalityError`] says which property fails, with a counter-example.
pub fn prove_flow(program: &Program, schedule: &Schedule, flow: &Dataflow) -> Result<Proof, LegalityError> {
    prove_flow_within(Budget::default(), program, schedule, flow)
}

/// [`prove_flow`], within another budget.
///
/// # Errors
/// Those of [`prove_flow`].
pub fn prove_flow_within(
    budget: Budget,
    program: &Program,
    schedule: &Schedule,
    flow: &Dataflow,
) -> Result<Proof, LegalityError> {
    let start = Instant::now();
    let context = Context::new(budget.operations)?.within(budget.seconds);
    let bands = flow.bands.as_ref().map(|bands| (flow.outer.as_str(), bands));
    let of_bands = bands.map_or(Ok(0), |(outer, bands)| flow::bands::proved(&context, outer, bands))?;
    let mut relations = Relations::new(&context, program, schedule, bands)?;
    totality::total(&mut relations)?;
    totality::once(&mut relations)?;
    totality::injective(&mut relations)?;
    let shown = of_bands + flow::proved(&context, program, flow)?;
    Ok(Proof {
        dependences: 0,
        reads: Some(flow.events.iter().map(|event| event.reads.len()).sum()),
        relations: relations.shown_empty() + shown,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Proves that the windows which blocks keep of the arrays hold what the arrays would hold, for all sizes and step
/// counts (`legality/window/mod.rs`), in kernels that are legal on the arrays ([`prove`]). Returns how many relations were
/// shown to be empty.
///
/// # Errors
/// [`LegalityError::Window`] says which read or store goes wrong, with a counter-example.
pub fn prove_windows(program: &Program, sweeps: &[Sweep]) -> Result<usize, LegalityError> {
    let Budget { operations, seconds } = Budget::default();
    let context = Context::new(operations)?.within(seconds);
    sweeps.iter().map(|sweep| window::proved(&context, program, sweep)).sum()
}
