//! The cost models as evaluators: of a CPU, or of a GPU.

use crate::error::{Error, Result};
use cost_models::cpu::CpuTime;
use hhc_codegen::strategy::{self, Strategy};
use optimizer::residence::best_k;
use optimizer::{Family, Objective};
use std::sync::Arc;
use tilewright::gpu_model::GpuModel;
use tilewright::machines;
use tilewright::tile_trials::{self};
use tuner::evaluator::{Predict, Predicted};
use tuner::{Point, Space};

/// The time that the model of a machine predicts for the tile sizes of a space, on a grid of some size for a number of
/// steps.
///
/// # Errors
/// An unknown machine, one without calibration, a strategy without a model there.
pub fn model(
    stencil: &tilewright::Stencil,
    strategy: &'static dyn Strategy,
    space: &Space,
    (size, steps): (&[i64], i64),
    spec: &str,
) -> Result<Predicted> {
    let program = &stencil.program;
    let machine = machines::machine(spec)?;
    let name = machine.name.clone();
    let predict = if machine.cpu().is_some() {
        execution::layout::grid_points(program, size)?;
        let analysis = stencil.analysis()?;
        let time = CpuTime::new(&machine, program, &analysis.cone, size, steps)
            .map_err(|error| Error::infeasible(error.to_string()))?;
        let space = space.clone();
        Arc::new(move |point: &Point| {
            let tile = tile_trials::tile_of(&space, point);
            let (program, cone) = (&time.cores().program, &time.cores().cone);
            strategy::plan(strategy, program, cone, &tile).map_err(|error| error.to_string())?;
            Ok(time.predict(strategy, &tile)?.seconds)
        }) as Predict
    } else {
        let modelled = GpuModel::new(stencil, size, steps, machine)?;
        modelled.request(Objective::Time, strategy.id())?;
        let (program, space) = (program.clone(), space.clone());
        Arc::new(move |point: &Point| {
            let tile = tile_trials::tile_of(&space, point);
            let problem = &modelled.problem;
            strategy::plan(strategy, &program, &problem.cone, &tile).map_err(|error| error.to_string())?;
            let (family, sizes) = Family::of_tile(problem, &modelled.model.hardware, strategy, &tile)?;
            let request =
                modelled.request(Objective::Time, strategy.id()).map_err(|error| error.to_string())?;
            let evaluation = request.evaluate(&family, sizes, best_k(&request, &family, sizes));
            match evaluation.constraints.iter().find(|constraint| !constraint.satisfied) {
                Some(broken) => Err(format!("it does not fit: {}", broken.name)),
                None => Ok(evaluation.prediction.seconds),
            }
        }) as Predict
    };
    let extents: Vec<String> = size.iter().map(i64::to_string).collect();
    let description =
        format!("{} {}, {steps} steps, {}, model of {name}", program.name, extents.join("x"), strategy.id());
    Ok(Predicted::new(predict, tile_trials::RESPONSE, "s", &description))
}
