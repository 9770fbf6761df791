//! Codesign: the hardware and the tile sizes together (paper, chapters 2.3.3, 5 and 6).
//!
//! ```text
//! minimise over designs A within the budget   sum over stencils p, executions of p   weight * M(p, A)
//! where                                       M(p, A) = min over strategies, tile sizes, k   of the cost model
//! ```
//!
//! Both minima are exact. The road:
//!
//! ```text
//! workload file --workload_file--> Workload --setting--> Setting --sweep--> Swept --study--> Study --report
//!                                              tiles, constants    inner      fronts, best,
//!                                              fitted (fit)        searches   sensitivities, whatif
//! ```
//!
//! One objective covers the paper's eight formulations: a single stencil is application codesign, several are system
//! codesign; several strategies make it *super*; the objective `edp` makes it *multi-metric*.

pub mod design;
pub mod inner;
pub mod journal;
pub mod pareto;
pub mod setting;
pub mod study;
pub mod sweep;
pub mod tiles;
pub mod whatif;
pub mod workload;
pub mod workload_file;

mod fit;

use design::Design;
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

/// Sweeps over the budget of a setting's workload and weighs the result.
///
/// # Errors
/// [`CodesignError`]: an empty budget, designs that are all infeasible, an interruption, a journal that cannot be used.
pub fn run(setting: &setting::Setting, control: &sweep::Control<'_>) -> Result<study::Study, CodesignError> {
    let swept = sweep::sweep(setting, setting.workload.budget.area_mm2, control)?;
    study::Study::new(setting, &swept).map_err(|stencil| CodesignError::Infeasible {
        designs: swept.designs.len(),
        stencil,
        power: setting
            .workload
            .budget
            .power_w
            .map_or(String::new(), |w| format!(" and needs no more than {w} W")),
    })
}
