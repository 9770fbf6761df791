//! The cost model of a machine as an evaluator.

use crate::error::Result;
use cost_models::gpu::TimeModel;
use hhc_codegen::strategy::{self, Strategy};
use std::sync::Arc;
use tilewright::machines;
use tilewright::model::{Model, Residence};
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
    (spec, form): (&str, Option<TimeModel>),
) -> Result<Predicted> {
    let program = &stencil.program;
    let machine = machines::machine(spec)?;
    let name = machine.name.clone();
    let model = Model::new(stencil, size, steps, machine, None)?;
    let model = match form {
        Some(form) => model.by(form)?,
        None => model,
    };
    model.complete(strategy, None)?;
    let (analysis, own, tiles) = (stencil.analysis()?, program.clone(), space.clone());
    let predict = Arc::new(move |point: &Point| {
        let tile = tile_trials::tile_of(&tiles, point);
        strategy::plan(strategy, &own, &analysis.cone, &tile).map_err(|error| error.to_string())?;
        let cost = model.cost(strategy, &tile, Residence::Best).map_err(|error| error.to_string())?.0;
        match cost.constraints.iter().find(|constraint| constraint.hard && !constraint.satisfied) {
            Some(broken) => Err(format!("it does not fit: {}", broken.name)),
            None => Ok(cost.prediction.seconds),
        }
    }) as Predict;
    let extents: Vec<String> = size.iter().map(i64::to_string).collect();
    // The usual form has no name: recordings keep theirs.
    let form = form.map_or(String::new(), |form| format!(", {form}"));
    let description = format!(
        "{} {}, {steps} steps, {}, model of {name}{form}",
        program.name,
        extents.join("x"),
        strategy.id()
    );
    Ok(Predicted::new(predict, tile_trials::RESPONSE, "s", &description))
}
