//! Counts: what tiles do, as numbers. Models turn them into time, energy and memory and know no strategy.
//!
//! ```text
//! strategy --closed forms, or enumeration of its plan--> Forms --> TileCounts, CountBounds   (multiprocessors)
//!                                                          |-----> CoreCounts                (cores)
//! ```
//!
//! A strategy may have closed forms of its own ([`Strategy::closed_forms`]); for one without, [`enumerated`] counts the
//! plan itself.

pub mod accounting;
pub(crate) mod bounds;
pub(crate) mod candidates;
pub mod cores;
pub mod direct;
pub mod enumerated;
pub(crate) mod forms;
pub(crate) mod multilinear;
pub(crate) mod multiprocessor;
pub(crate) mod problem;
pub(crate) mod rounds;
pub(crate) mod terms;
pub(crate) mod tile;
pub(crate) mod union;
pub mod work;

pub use bounds::{CountBounds, Interval};
pub use candidates::{Candidates, Limits, MOST_SIZES, OfGrid, OnGrid, Run, Sizes, Tabulated};
pub use forms::{Axis, Family, Forms, SizeOf, TileForms, last_true};
pub use multilinear::Multilinear;
pub use multiprocessor::Multiprocessor;
pub use problem::Problem;
pub use rounds::Rounds;
pub use terms::Terms;
pub use tile::TileCounts;
pub use work::{LeastEdges, LeastWork, TileWork, Work};

use crate::strategy::interface::Strategy;
use enumerated::Enumerated;

/// The forms of a strategy: its own, or those that its plan is enumerated for.
pub fn forms(strategy: &'static dyn Strategy) -> Box<dyn Forms> {
    match strategy.closed_forms() {
        Some(own) => own,
        None => Box::new(Enumerated { strategy }),
    }
}
