//! How many tiles share a multiprocessor: the effect of `k` (paper, section 6.3: hyper-threading).

use crate::family::Family;
use crate::request::Request;
use cost_models::model::CostModel;
use serde::Serialize;

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

/// The effect of hyper-threading (paper, section 6.3): the time for every `k` up to the first that does not fit.
pub fn hyper_threading(request: &Request<'_>, family: &Family, sizes: [i64; 3]) -> Vec<Resident> {
    let mut all = Vec::new();
    for k in 1..=request.model.hardware.blocks_per_sm {
        let resident = family.resident(&request.model, sizes, k);
        let feasible = request.model.fits(&resident);
        all.push(Resident { k, seconds: request.model.cost(&resident).prediction.seconds, feasible });
        if !feasible {
            break;
        }
    }
    all
}

/// The `k` with the least value of the objective among those that fit; 1 where none does.
pub fn best_k(request: &Request<'_>, family: &Family, sizes: [i64; 3]) -> i64 {
    let values =
        (1..=request.model.hardware.blocks_per_sm).map_while(|k| Some((request.value(family, sizes, k)?, k)));
    values.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(1, |(_, k)| k)
}
