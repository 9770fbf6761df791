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

mod flow;
mod fullness;
mod order;
mod relations;
mod space;
mod totality;
mod window;

use crate::dataflow::Dataflow;
use crate::dependence::Dependence;
use crate::isl::{Context, IslError};
use crate::program::Program;
use crate::schedule::Schedule;
use crate::sweep::Sweep;
pub use flow::{FlowError, FlowKind};
use relations::Relations;
use std::fmt;
use std::time::Instant;
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

/// One execution of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Index of the statement.
    pub statement: usize,
    /// Time step.
    pub time: i64,
    /// Point.
    pub point: Vec<i64>,
}

/// The problem in which a counter-example occurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Number of time steps.
    pub steps: i64,
    /// Grid size, in points per dimension.
    pub size: Vec<i64>,
}

/// An instance and its schedule vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheduled {
    /// The instance.
    pub instance: Instance,
    /// One value per schedule dimension.
    pub vector: Vec<i64>,
}

/// How the target of a violated dependence runs relative to its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misorder {
    /// In an earlier value of a sequential dimension.
    Before,
    /// In another value of a parallel dimension.
    InParallel,
    /// With the same vector.
    Together,
}

/// A dependence that a schedule breaks, with a pair of instances that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The dependence.
    pub dependence: Dependence,
    /// Name of the field whose cell is shared.
    pub field: String,
    /// The instance that must run first.
    pub source: Scheduled,
    /// The instance that must run later.
    pub target: Scheduled,
    /// How it runs instead.
    pub misorder: Misorder,
    /// Index and name of the first schedule dimension in which they differ; `None` for
    /// [`Misorder::Together`].
    pub dimension: Option<(usize, String)>,
    /// The problem in which this happens.
    pub problem: Problem,
}

/// Why a schedule is not legal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LegalityError {
    /// A piece does not fit the program or the schedule's dimensions, or isl cannot read it.
    #[error("piece {piece} of the schedule is malformed: {message}")]
    Malformed {
        /// Index of the piece.
        piece: usize,
        /// What is wrong.
        message: String,
    },
    /// An instance that is never executed.
    #[error("the schedule never runs {instance} (problem: {problem})")]
    NotTotal {
        /// The instance.
        instance: Instance,
        /// The problem in which this happens.
        problem: Problem,
    },
    /// An instance that is executed twice.
    #[error("the schedule runs {first} also at {} (problem: {problem})", Vector(second))]
    NotOnce {
        /// The instance and one of its vectors.
        first: Box<Scheduled>,
        /// Its other vector (the same if two pieces agree on it).
        second: Vec<i64>,
        /// The problem in which this happens.
        problem: Problem,
    },
    /// Two instances that share a vector.
    #[error("the schedule runs {first} and {second} in the same place (problem: {problem})")]
    NotInjective {
        /// One instance.
        first: Box<Scheduled>,
        /// The other.
        second: Instance,
        /// The problem in which this happens.
        problem: Problem,
    },
    /// In a tile that is called full, an instance that runs outside its domain, or does not run inside it.
    #[error(
        "the schedule calls a tile full that would {} its domain (problem: {problem})",
        if *runs { format!("run {instance}, outside") } else { format!("not run {instance}, inside") }
    )]
    NotFull {
        /// The instance.
        instance: Instance,
        /// Whether the tile would run it.
        runs: bool,
        /// The problem in which this happens.
        problem: Problem,
    },
    /// A dependence that is not respected.
    #[error(transparent)]
    Violated(Box<Violation>),
    /// A value that is not where it is read, or not there yet, or no more.
    #[error("{0}")]
    Flow(Box<FlowError>),
    /// A window that does not hold what the arrays would hold.
    #[error("{0}")]
    Window(Box<WindowError>),
    /// Bands of time are not what the proof about values takes them for.
    #[error("the bands of the host loop do not partition the time steps in turn: not for all of them {fact}")]
    Bands {
        /// What is not true.
        fact: String,
    },
    /// isl gave no answer.
    #[error(transparent)]
    Isl(#[from] IslError),
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
    prove_within(Budget::default(), program, dependences, schedule)
}

/// [`prove`], within another budget.
///
/// # Errors
/// Those of [`prove`].
pub fn prove_within(
    budget: Budget,
    program: &Program,
    dependences: &[Dependence],
    schedule: &Schedule,
) -> Result<Proof, LegalityError> {
    let start = Instant::now();
    let context = Context::new(budget.operations)?.within(budget.seconds);
    let mut relations = Relations::new(&context, program, schedule, None)?;
    totality::total(&mut relations)?;
    totality::once(&mut relations)?;
    totality::injective(&mut relations)?;
    order::respected(&mut relations, dependences)?;
    fullness::implied(&mut relations)?;
    Ok(Proof {
        dependences: dependences.len(),
        reads: None,
        relations: relations.shown_empty(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Proves that a plan whose blocks have storage of their own is legal for a program, for all sizes and step counts:
/// the schedule runs every instance exactly once, as its owner's, and every value is where it is read (`legality/flow.rs`).
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
/// counts (`legality/window.rs`), in kernels that are legal on the arrays ([`prove`]). Returns how many relations were
/// shown to be empty.
///
/// # Errors
/// [`LegalityError::Window`] says which read or store goes wrong, with a counter-example.
pub fn prove_windows(program: &Program, sweeps: &[Sweep]) -> Result<usize, LegalityError> {
    let Budget { operations, seconds } = Budget::default();
    let context = Context::new(operations)?.within(seconds);
    sweeps.iter().map(|sweep| window::proved(&context, program, sweep)).sum()
}

impl std::error::Error for Violation {}

/// A vector of integers as `[1, 2, 3]`.
struct Vector<'a>(&'a [i64]);

impl fmt::Display for Vector<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.0.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        write!(formatter, "[{values}]")
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "statement {} at t = {}, point {}", self.statement, self.time, Vector(&self.point))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.size.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
        write!(formatter, "{size}, {} steps", self.steps)
    }
}

impl fmt::Display for Scheduled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at {}", self.instance, Vector(&self.vector))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match (self.misorder, &self.dimension) {
            (Misorder::Before, Some((_, name))) => format!("before it in dimension `{name}`"),
            (Misorder::InParallel, Some((_, name))) => format!("in parallel with it in dimension `{name}`"),
            _ => "at the very same place".to_owned(),
        };
        write!(
            formatter,
            "the schedule breaks the {} through field {}: {} must run after {}, but runs {how} (problem: {})",
            self.dependence, self.field, self.target, self.source, self.problem
        )
    }
}
