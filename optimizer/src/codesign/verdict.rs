//! What a sweep finds out about a design.

use super::inner::{Effort, Outcome};

/// What is known about a design.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The best tiles of every execution, stencil by stencil.
    Evaluated(Vec<Vec<Outcome>>),
    /// Another design, no larger, is better in cost and energy than this one's bounds; that of its cost.
    Pruned(f64),
    /// Stencil of this index has an execution for which no tile fits.
    Infeasible(usize),
}

/// What one group says: design by design, and the effort.
pub type GroupResult = (Vec<(usize, Verdict)>, Effort);
