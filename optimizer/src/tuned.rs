//! What a search found.

use crate::family::Family;
use crate::relaxation::{Relaxed, relaxed};
use crate::request::Request;
use crate::residence::best_k;
use cost_models::model::Cost;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::Strategy;
use serde::Serialize;
use std::time::Instant;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Branch and bound over the full model: provably the best.
    Exact,
    /// Every candidate: for comparison.
    Exhaustive,
    /// The paper's rule (eq. 6.5) with whole wavefronts: large faces that fill rounds of tiles.
    ClosedForm,
}

/// A tile choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Choice {
    /// Name of the strategy.
    pub strategy: &'static str,
    /// Tile sizes.
    pub tile: TileSizes,
    /// Tiles resident on a multiprocessor at a time.
    pub k: i64,
}

/// Evidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Certificate {
    /// The value of the objective that was found.
    pub value: f64,
    /// No candidate has a smaller value than this; `None` where the method proves nothing.
    pub bound: Option<f64>,
    /// Candidates for which the full model was evaluated.
    pub evaluated: u64,
    /// Boxes of candidates for which a bound was computed.
    pub nodes: u64,
    /// Candidates that were excluded by bounds.
    pub pruned: u64,
    /// Candidates: tile sizes and `k` whose shared memory fits.
    pub candidates: u64,
}

impl Certificate {
    /// The certificate of a search that looked at everything, or excluded it by bounds, none of them less than `bound`:
    /// (evaluated, bounded).
    pub(crate) fn proved(
        value: f64,
        bound: f64,
        (evaluated, nodes): (u64, u64),
        candidates: u64,
    ) -> Certificate {
        let pruned = candidates.saturating_sub(evaluated);
        Certificate { value, bound: Some(bound), evaluated, nodes, pruned, candidates }
    }

    /// What may lie between the value and the least one: 0 where it is proved to be the least.
    pub fn gap(&self) -> Option<f64> {
        self.bound.map(|bound| self.value - bound)
    }

    /// Whether the value is proved to be the least.
    pub fn optimal(&self) -> bool {
        self.bound.is_some_and(|bound| bound >= self.value)
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// The choice.
    pub choice: Choice,
    /// What it costs.
    pub evaluation: Cost,
    /// The optimum along `s0` without roundings; `None` where there is nothing to vary.
    pub relaxed: Option<Relaxed>,
    /// The evidence.
    pub certificate: Certificate,
    /// How it was searched.
    pub method: Method,
    /// Wall time of the search in seconds.
    pub elapsed_s: f64,
}

/// The best candidate so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    pub value: f64,
    pub family: usize,
    pub sizes: [i64; 3],
    pub k: i64,
}

impl Best {
    pub(crate) fn choice(&self, families: &[Family]) -> Choice {
        let family = &families[self.family];
        Choice { strategy: family.strategy.id(), tile: family.tile(self.sizes), k: self.k }
    }

    /// The result of a search that began at `start`.
    pub(crate) fn tuned(
        &self,
        request: &Request<'_>,
        families: &[Family],
        certificate: Certificate,
        method: Method,
        start: Instant,
    ) -> Tuned {
        let family = &families[self.family];
        Tuned {
            choice: self.choice(families),
            evaluation: request.evaluate(family, self.sizes, self.k),
            relaxed: relaxed(request, family, self.sizes, self.k),
            certificate,
            method,
            elapsed_s: start.elapsed().as_secs_f64(),
        }
    }
}

/// A tile that was given, as far as it fits: what it costs, and no evidence that there is no better one.
pub fn judged(request: &Request<'_>, strategy: &'static dyn Strategy, tile: &TileSizes) -> Option<Tuned> {
    let start = Instant::now();
    let (family, sizes) = Family::of_tile(request.problem, &request.model.hardware, strategy, tile).ok()?;
    let k = best_k(request, &family, sizes);
    let value = request.value(&family, sizes, k)?;
    let certificate = Certificate { value, bound: None, evaluated: 1, nodes: 0, pruned: 0, candidates: 1 };
    let best = Best { value, family: 0, sizes, k };
    Some(best.tuned(request, &[family], certificate, Method::Exact, start))
}
