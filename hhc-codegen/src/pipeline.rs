//! The road from a program to a proved plan, on one page.
//!
//! ```text
//! Program --analyze--> dependences, cone --strategy--> KernelPlan --isl--> Proof --back end--> files
//! ```

use crate::plan::joined;
use crate::strategy::{self, Strategy, Target};
use crate::{KernelPlan, PlanError, TileSizes, prove};
use polyhedral::analysis::{Analysis, analyze};
use polyhedral::legality::Proof;
use polyhedral::program::Program;
use std::sync::Arc;
use std::time::Instant;

/// A plan with everything that was found out on the way.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Dependences, cone, footprints and counts of the program.
    pub analysis: Arc<Analysis>,
    /// The plan.
    pub plan: KernelPlan,
    /// isl's proof that the plan is legal.
    pub proof: Proof,
}

/// Analyses the program, and plans it as [`plan_analysed`] does.
///
/// # Errors
/// [`PlanError`]: a program that cannot be analysed, an impossible tile size, or a plan that breaks a dependence.
pub fn plan(
    program: &Arc<Program>,
    strategy: &dyn Strategy,
    tile: &TileSizes,
    target: Target,
) -> Result<Planned, PlanError> {
    let analysis = analyze(program)
        .map_err(|error| PlanError::Analysis { stencil: program.name.clone(), reason: error.to_string() })?;
    plan_analysed(program, &Arc::new(analysis), strategy, tile, target, &mut |_, _| {})
}

/// Plans a program with this strategy and proves the plan legal, with the windows that it keeps on this target. Tile sizes
/// that are not given are the strategy's defaults for the target. `refused` gets a look at a plan that the proof refuses.
///
/// # Errors
/// [`PlanError`]: an impossible tile size, or a plan that breaks a dependence.
pub fn plan_analysed(
    program: &Arc<Program>,
    analysis: &Arc<Analysis>,
    strategy: &dyn Strategy,
    tile: &TileSizes,
    target: Target,
    refused: &mut dyn FnMut(&KernelPlan, &Analysis),
) -> Result<Planned, PlanError> {
    strategy::taken(strategy, program, &analysis.cone)?;
    strategy::has_target(strategy, program, target)?;
    let defaults = strategy.default_tile(program, &analysis.cone, target);
    let space = strategy.space(program, &analysis.cone);
    let tile = space.complete(strategy.id(), tile, &defaults)?;
    space.check_target(strategy.id(), &tile, target)?;
    let mut plan = strategy::plan(strategy, program, &analysis.cone, &tile)?;
    if target == Target::OpenMp {
        joined::fuse(&mut plan);
    }
    let mut proof = prove::prove(&plan, &analysis.dependences).inspect_err(|_| refused(&plan, analysis))?;
    if target == Target::Cuda {
        let start = Instant::now();
        proof.relations += prove::prove_windows(&plan).inspect_err(|_| refused(&plan, analysis))?;
        proof.seconds += start.elapsed().as_secs_f64();
    }
    Ok(Planned { analysis: Arc::clone(analysis), plan, proof })
}
