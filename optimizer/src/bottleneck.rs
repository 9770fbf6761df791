//! Where a predicted time goes, and what would change it (paper, chapter 6: "bottleneckology").

use crate::family::Family;
use crate::request::{Evaluation, Request};
use cost_models::hardware::Hardware;
use cost_models::memory::fits;
use serde::Serialize;

/// Time lost to one cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Loss {
    /// `partial_tiles`, `lanes`, `wavefronts`, `transfer`, `barrier`, `launch`, or `overlap` (negative: iterations that
    /// run behind transfers).
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Seconds.
    pub seconds: f64,
    /// Share of the whole time.
    pub share: f64,
}

/// What a change of one constant or of the hardware does to the time, the tile staying the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Name: `l_s_per_word`, `tau_sync_s`, `t_sync_s`, `c_iter_s`, `n_sm`, `n_v`.
    pub parameter: &'static str,
    /// Its value.
    pub value: f64,
    /// `dT/dp` in seconds per unit: of constants by a central difference of one per cent; of counts the change that
    /// one unit more makes.
    pub derivative: f64,
    /// `dT/dp * p/T`: per cent of time per per cent of the parameter.
    pub elasticity: f64,
}

/// The time with another number of resident tiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resident {
    /// `k`
    pub k: i64,
    /// Seconds.
    pub seconds: f64,
    /// Whether so many fit.
    pub feasible: bool,
}

/// The time of the ideal machine and what is lost on the way to the predicted one: `ideal_s` (paper, eq. 6.3) plus all
/// losses is the predicted time.
pub fn losses(request: &Request<'_>, evaluation: &Evaluation, k: i64) -> Vec<Loss> {
    let lanes = (request.hardware.n_sm * request.hardware.n_v) as f64;
    let n_sm = request.hardware.n_sm as f64;
    let c_iter_s = request.time.constants.c_iter_s;
    let (mut ideal, mut tiles, mut rounds, mut waves) = (0.0, 0.0, 0.0, 0.0);
    for counts in &evaluation.counts {
        let parts = request.time.parts(counts, k);
        let sub_tiles = counts.tiles as f64 * counts.sub_tiles as f64;
        ideal += counts.total_iterations as f64 / lanes * c_iter_s;
        tiles += sub_tiles * counts.iterations as f64 / lanes * c_iter_s;
        rounds += sub_tiles * counts.lane_rounds as f64 / n_sm * c_iter_s;
        waves += parts.wavefronts * parts.tile_rounds * parts.sub_tiles * parts.iterate_s;
    }
    let terms = evaluation.prediction.terms;
    let seconds = evaluation.prediction.seconds;
    let loss = |name, meaning, lost: f64| Loss { name, meaning, seconds: lost, share: lost / seconds };
    vec![
        loss("partial_tiles", "parts of tiles that lie outside the domain", tiles - ideal),
        loss("lanes", "lanes that idle in the last round of a row", rounds - tiles),
        loss("wavefronts", "multiprocessors that idle in the last round of a wavefront", waves - rounds),
        loss(
            "overlap",
            "a gain: iterations that run while other resident tiles transfer (k > 1)",
            terms.compute - waves,
        ),
        loss("transfer", "transfers that nothing hides", terms.transfer),
        loss("barrier", "barriers inside blocks", terms.barrier),
        loss("launch", "launches", terms.launch),
    ]
}

/// How the time reacts to each constant and to the hardware.
pub fn sensitivities(request: &Request<'_>, family: &Family, sizes: [i64; 3], k: i64) -> Vec<Sensitivity> {
    let seconds = |changed: &Request<'_>| changed.evaluate(family, sizes, k).prediction.seconds;
    let base = seconds(request);
    let constants = request.time.constants;
    type Change = fn(&mut cost_models::constants::TimeConstants, f64);
    let continuous: [(&'static str, f64, Change); 4] = [
        ("c_iter_s", constants.c_iter_s, |c, factor| c.c_iter_s *= factor),
        ("l_s_per_word", constants.l_s_per_word, |c, factor| c.l_s_per_word *= factor),
        ("tau_sync_s", constants.tau_sync_s, |c, factor| c.tau_sync_s *= factor),
        ("t_sync_s", constants.t_sync_s, |c, factor| c.t_sync_s *= factor),
    ];
    let mut all: Vec<Sensitivity> = (continuous.into_iter())
        .map(|(parameter, value, change)| {
            let with = |factor: f64| {
                let mut changed = request.clone();
                change(&mut changed.time.constants, factor);
                seconds(&changed)
            };
            let difference = with(1.01) - with(0.99);
            let derivative = if value > 0.0 { difference / (0.02 * value) } else { 0.0 };
            Sensitivity { parameter, value, derivative, elasticity: difference / 0.02 / base }
        })
        .collect();
    let mut more_sms = request.clone();
    more_sms.time.n_sm += 1;
    let change = seconds(&more_sms) - base;
    let n_sm = request.hardware.n_sm as f64;
    all.push(Sensitivity {
        parameter: "n_sm",
        value: n_sm,
        derivative: change,
        elasticity: change * n_sm / base,
    });
    let wider = Hardware { n_v: request.hardware.n_v + 1, ..request.hardware.clone() };
    let widened = Family::of_tile(request.problem, &wider, family.strategy, &family.tile(sizes));
    if let Ok((widened, sizes)) = widened {
        let change = request.evaluate(&widened, sizes, k).prediction.seconds - base;
        let n_v = request.hardware.n_v as f64;
        all.push(Sensitivity {
            parameter: "n_v",
            value: n_v,
            derivative: change,
            elasticity: change * n_v / base,
        });
    }
    all
}

/// The effect of hyper-threading (paper, section 6.3): the time for every `k` up to the first that does not fit.
pub fn hyper_threading(request: &Request<'_>, family: &Family, sizes: [i64; 3]) -> Vec<Resident> {
    let mut all = Vec::new();
    for k in 1..=request.hardware.blocks_per_sm {
        let evaluation = request.evaluate(family, sizes, k);
        let feasible = evaluation.counts.iter().all(|counts| fits(counts, k, request.hardware));
        all.push(Resident { k, seconds: evaluation.prediction.seconds, feasible });
        if !feasible {
            break;
        }
    }
    all
}

/// The `k` with the least value of the objective among those that fit; 1 where none does.
pub fn best_k(request: &Request<'_>, family: &Family, sizes: [i64; 3]) -> i64 {
    let values =
        (1..=request.hardware.blocks_per_sm).map_while(|k| Some((request.value(family, sizes, k)?, k)));
    values.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, k)| k)
}
