//! A tile that is proved to be best, with a certificate that others can check ([`certificates`]).

use crate::error::{Error, Result};
use crate::finalists::finalist;
use crate::gpu_model::GpuModel;
use crate::model::Model;
use certificates::{Best, Certificate, Claim, FamilyName, PassedOver, TileBox};
use optimizer::{Evidence, Method, Objective, Request, Tuned, exact_with_evidence};

/// The best tile of a strategy, or of all that a choice considers for `auto`, and the certificate.
///
/// # Errors
/// No tile fits; a CPU, or strategies of which no certificate can be checked.
pub fn certified(model: &Model, strategy: &str, objective: Objective) -> Result<(Tuned, Certificate)> {
    let Model::Gpu(model) = model else {
        let message =
            "a certificate can be checked for GPUs: nobody else knows the bounds of the model of a CPU";
        return Err(Error::infeasible(message)
            .hint("leave out --certificate; the search proves its result all the same"));
    };
    certify(model, &finalist(model, objective, strategy, Method::Exact)?.request)
}

/// The same for a request.
///
/// # Errors
/// As for [`certified`].
pub fn certify(model: &GpuModel, request: &Request<'_>) -> Result<(Tuned, Certificate)> {
    let claim = |best: Best, bound: f64| Claim {
        program: model.problem.program.to_source(),
        size: model.problem.size.clone(),
        steps: model.problem.steps,
        machine: model.machine.to_toml(),
        model: request.model.form(),
        objective: request.objective,
        strategies: request.strategies.iter().map(|strategy| strategy.id().to_owned()).collect(),
        most_height: request.most_height,
        sure_of_registers: request.sure_of_registers,
        passed_over: (request.passed_over.iter())
            .map(|own| PassedOver {
                strategy: own.strategy.to_owned(),
                fixed: own.fixed.clone(),
                threads: own.threads,
                registers: own.registers,
            })
            .collect(),
        best,
        bound,
    };
    let nowhere = Best { strategy: String::new(), tile: String::new(), k: 0, value: 0.0 };
    certificates::can_check(&model.problem, &model.machine, &claim(nowhere, 0.0)).map_err(|reason| {
        Error::infeasible(reason)
            .hint("leave out --certificate, or name a strategy whose tiles have closed forms")
    })?;
    let (tuned, evidence) = exact_with_evidence(request)?;
    let Evidence { families, boxes, tiles } = evidence;
    let own = &tuned.certificate;
    let best = Best {
        strategy: tuned.choice.strategy.to_owned(),
        tile: tuned.choice.tile.to_string(),
        k: tuned.choice.k,
        value: own.value,
    };
    let families = families.iter().map(|family| FamilyName {
        strategy: family.strategy.id().to_owned(),
        fixed: family.fixed().map(|(name, value)| (name.to_owned(), value)).collect(),
    });
    let finite = |bound: f64| bound.is_finite().then_some(bound);
    let boxes = boxes.iter().map(|own| {
        let corners = [0, 1, 2].map(|d| (own.low[d], own.high[d]));
        let [a, b, c] = corners;
        TileBox(own.family, [own.k.0, own.k.1], [a.0, a.1, b.0, b.1, c.0, c.1], finite(own.bound))
    });
    let tiles = tiles.iter().map(|own| certificates::Tile(own.family, own.k, own.index, own.value));
    let claim = claim(best, own.bound.unwrap_or(own.value));
    let certificate = Certificate::new(claim, families.collect(), boxes.collect(), tiles.collect());
    Ok((tuned, certificate))
}
