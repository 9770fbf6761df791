//! Why a schedule is not legal.

use super::flow::FlowError;
use super::instance::{Instance, Problem, Scheduled, Vector};
use super::violation::Violation;
use super::window::WindowError;
use crate::isl::IslError;

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
