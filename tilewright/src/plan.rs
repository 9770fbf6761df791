//! From a stencil and a wanted tiling to a proved plan.

use crate::error::Result;
use crate::load::Stencil;
use crate::observer::{Observer, stage};
use crate::strategies;
use execution::ExecutionError;
use hhc_codegen::pipeline::{self, Planned};
use hhc_codegen::strategy::{AUTO, Target};
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::analysis::Analysis;
use toolchain::interrupt::Blocking;

/// A strategy and tile sizes, as somebody asks for them.
#[derive(Debug, Clone)]
pub struct Tiling {
    /// Name of the strategy, or `auto`.
    pub strategy: String,
    /// Tile sizes; those that are not given are chosen.
    pub tile: Option<TileSizes>,
}

impl Default for Tiling {
    fn default() -> Tiling {
        Tiling { strategy: AUTO.to_owned(), tile: None }
    }
}

/// The plan of this tiling, proved legal.
///
/// # Errors
/// An unknown strategy, or tile sizes that are not possible.
pub fn plan(stencil: &Stencil, tiling: &Tiling, target: Target, observer: &dyn Observer) -> Result<Planned> {
    let strategy = strategies::named_for(&tiling.strategy, &stencil.program)?;
    let tile = tiling.tile.clone().unwrap_or_default();
    stage(observer, "plan and proof", || {
        // isl does not look at the flag that a signal sets.
        let _blocking = Blocking::enter().map_err(ExecutionError::from)?;
        let analysis = stencil.analysis()?;
        let refused = &mut |plan: &KernelPlan, analysis: &Analysis| observer.refused(plan, analysis);
        Ok(pipeline::plan_analysed(&stencil.program, &analysis, strategy, &tile, target, refused)?)
    })
}
