//! Why there is no study.

use super::design::Design;
use std::path::PathBuf;

/// Why there is no study.
#[derive(Debug, thiserror::Error)]
pub enum CodesignError {
    /// The base machine is no GPU, or a stencil has no executions; reading a workload excludes both.
    #[error("internal error: the workload has no GPU or a stencil without executions")]
    NoGpu,
    /// A stencil cannot be tiled.
    #[error("`{stencil}` cannot be searched: {reason}")]
    Analysis {
        /// The stencil.
        stencil: String,
        /// Why.
        reason: String,
    },
    /// No tile fits.
    #[error(
        "no tile of `{stencil}` fits into {bytes} bytes, what a block has on the largest design; raise m_sm_kb"
    )]
    NoTile {
        /// The stencil.
        stencil: String,
        /// Bytes of a block on the largest design.
        bytes: i64,
    },
    /// More tiles fit than are searched.
    #[error(
        "more than {most} tiles of `{stencil}` fit into {bytes} bytes, what a block has on the largest design: that is more \
         than a study tabulates; take a smaller m_sm_kb, a smaller grid or fewer steps"
    )]
    TooManyTiles {
        /// The stencil.
        stencil: String,
        /// The limit.
        most: usize,
        /// Bytes of a block on the largest design.
        bytes: i64,
    },
    /// The reference of a stencil cannot be met.
    #[error("no tile of `{stencil}` fits its reference design ({design}), so no rate can be reached on it")]
    Reference {
        /// The stencil.
        stencil: String,
        /// The design.
        design: Box<Design>,
    },
    /// No design lies within the budget.
    #[error(
        "no design of the ranges has an area between {} and {} mm2: they reach from {least:.1} to {most:.1} mm2",
        budget.0, budget.1
    )]
    EmptyBudget {
        /// The budget in mm2.
        budget: (f64, f64),
        /// Area of the smallest design in mm2.
        least: f64,
        /// Area of the largest design in mm2.
        most: f64,
    },
    /// Every design within the budget is infeasible.
    #[error(
        "none of the {designs} designs within the budget can execute the whole workload: `{stencil}` has no tile that \
         fits{power}"
    )]
    Infeasible {
        /// Designs within the budget.
        designs: usize,
        /// A stencil that does not fit.
        stencil: String,
        /// What else limits it.
        power: String,
    },
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// The journal cannot be read or written.
    #[error("the journal {} cannot be used: {source}", path.display())]
    Journal {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}
