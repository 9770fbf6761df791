//! Where the time goes.

use crate::codesign::setting::{Setting, Subject, counted};
use crate::codesign::study::Study;
use cost_models::gpu::Resident;
use cost_models::model::CostModel;
use cost_models::time::Terms;
use serde::Serialize;

/// Where the time of a stencil goes on the best design, over all its executions.
#[derive(Debug, Clone, Serialize)]
pub struct Overhead {
    /// The stencil.
    pub stencil: String,
    /// Shares of the time: iterations, transfers, barriers, launches. They add up to 1.
    pub shares: Terms,
    /// `T_ideal / T_alg` (paper, eq. 6.3): what an ideal machine would need.
    pub ideal: f64,
    /// `T_overhead / T_alg` (eq. 6.4).
    pub overhead: f64,
    /// Relative loss with the tiles of the closed-form rule (eq. 6.5: the largest tS1 + tT/2 of compute-bound tiles, with
    /// the best k); `None` where no tile is compute-bound.
    pub closed_form_loss: Option<f64>,
}

/// Overhead analysis of the best design.
pub fn overheads(setting: &Setting, study: &Study) -> Vec<Overhead> {
    let best = study.best();
    let design = best.design;
    let on = setting.on(&design);
    let of = |(index, subject): (usize, &Subject)| {
        let tables = setting.tables(subject, &setting.key(&design));
        let ranked = tables.ranked();
        let (mut terms, mut ideal, mut total) = (Terms::default(), 0.0, 0.0);
        for (run, outcome) in best.outcomes[index].iter().enumerate() {
            let Some((ranked, tiles)) = counted(&ranked, run, outcome) else { continue };
            let cost = ranked.model(&on, run).cost(&Resident { tiles, work: None, k: outcome.k });
            terms.add(&cost.prediction.terms);
            ideal += cost.prediction.ideal_s;
            total += cost.prediction.seconds;
        }
        let shares = terms.per(total);
        let optimum: f64 = best.outcomes[index].iter().map(|outcome| outcome.seconds).sum();
        let closed_form = |run: usize| {
            let own = ranked.iter().find(|own| own.serves(run) && own.has_faces())?;
            own.closed_form(run, &own.model(&on, run))
        };
        let closed_form = (0..subject.load.runs.len()).map(closed_form).sum::<Option<f64>>();
        Overhead {
            stencil: subject.load.name.clone(),
            shares,
            ideal: ideal / total,
            overhead: 1.0 - ideal / total,
            closed_form_loss: closed_form.map(|seconds| seconds / optimum - 1.0),
        }
    };
    setting.subjects.iter().enumerate().map(of).collect()
}
