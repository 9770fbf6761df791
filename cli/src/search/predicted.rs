//! The cost models as evaluators: of a CPU, or of a GPU.

use crate::error::{Error, Result};
use crate::machine;
use crate::model::Modelled;
use cost_models::cpu::{CpuTile, CpuTime};
use hhc_codegen::strategy;
use optimizer::bottleneck::best_k;
use optimizer::{Family, Objective};
use polyhedral::analysis::analyze;
use polyhedral::program::Program;
use std::sync::Arc;
use tuner::evaluator::{Predict, Predicted, stencil};
use tuner::{Point, Space};

/// The time that the model of a machine predicts for the tile sizes of a space, on a grid of some size for a number of
/// steps.
///
/// # Errors
/// An unknown machine, one without calibration, a strategy without a model there.
pub fn model(
    program: &Arc<Program>,
    strategy: &'static str,
    space: &Space,
    (size, steps): (&[i64], i64),
    spec: &str,
) -> Result<Predicted> {
    let machine = machine::machine(spec)?;
    let name = machine.name.clone();
    let predict = if machine.cpu().is_some() {
        if strategy != "hhc" {
            return Err(Error::infeasible(format!("the time model of a CPU knows no strategy {strategy}"))
                .hint("use --strategy hhc"));
        }
        execution::layout::grid_points(program, size)?;
        let analysis = analyze(program)
            .map_err(|error| Error::infeasible(format!("`{}` cannot be analysed: {error}", program.name)))?;
        let time = CpuTime::new(&machine, program, &analysis.cone, size, steps)
            .map_err(|error| Error::infeasible(error.to_string()))?;
        let space = space.clone();
        Arc::new(move |point: &Point| {
            let tile = CpuTile::from_sizes(&stencil::tile_of(&space, point)).ok_or("a tile without sizes")?;
            Ok(time.predict(tile).seconds)
        }) as Predict
    } else {
        let modelled = Modelled::new(program, size, steps, machine)?;
        modelled.request(Objective::Time, strategy)?;
        let (program, space) = (program.clone(), space.clone());
        Arc::new(move |point: &Point| {
            let tile = stencil::tile_of(&space, point);
            let problem = &modelled.problem;
            let plan = strategy::by_name(strategy).map_err(|error| error.to_string())?;
            strategy::plan(plan, &program, &problem.cone, &tile).map_err(|error| error.to_string())?;
            let (family, sizes) = Family::of_tile(problem, &modelled.hardware, strategy, &tile)
                .ok_or("the strategy has no closed forms")?;
            let request = modelled.request(Objective::Time, strategy).map_err(|error| error.to_string())?;
            let evaluation = request.evaluate(&family, sizes, best_k(&request, &family, sizes));
            match evaluation.constraints.iter().find(|constraint| !constraint.satisfied) {
                Some(broken) => Err(format!("it does not fit: {}", broken.name)),
                None => Ok(evaluation.prediction.seconds),
            }
        }) as Predict
    };
    let extents: Vec<String> = size.iter().map(i64::to_string).collect();
    let description =
        format!("{} {}, {steps} steps, {strategy}, model of {name}", program.name, extents.join("x"));
    Ok(Predicted::new(predict, stencil::RESPONSE, "s", &description))
}
