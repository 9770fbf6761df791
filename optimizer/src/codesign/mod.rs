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
//!                                              fitted (fit)    (ranked, inner)   sensitivities, answers, findings
//! ```
//!
//! One objective covers the paper's eight formulations: a single stencil is application codesign, several are system
//! codesign; several strategies make it *super*; the objective `edp` makes it *multi-metric*.

pub mod answers;
pub mod constants;
pub mod design;
pub mod document;
pub mod facility;
pub mod findings;
pub mod inner;
pub mod journal;
pub mod pareto;
pub mod part;
pub mod ranked;
pub mod setting;
pub mod study;
pub mod sweep;
pub mod threads;
pub mod tiles;
pub mod uncertainty;
pub mod whatif;
pub mod workload;
pub mod workload_file;

mod divisor;
mod error;
mod fit;
mod fitting;
mod rules;
mod verdict;

pub use error::CodesignError;

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
