//! Simulated annealing (S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Science 220, 1983) on the logarithm of the
//! response, so that temperatures mean ratios and not seconds.

use super::Searcher;
use crate::run::{Run, Stop};
use rand::Rng;

/// Walks to random neighbours; a worse one is accepted with probability `exp(-log(ratio) / T)`, and `T` falls
/// geometrically over the budget. A walk that stands still starts again at a random point.
pub struct Annealing {
    /// Temperature at the start: 0.5 accepts one that is 1.65 times as slow with probability 1/e.
    pub first: f64,
    /// Temperature at the end.
    pub last: f64,
    /// Rejections in a row after which it starts again.
    pub patience: usize,
}

impl Default for Annealing {
    fn default() -> Self {
        Annealing { first: 0.5, last: 0.005, patience: 40 }
    }
}

impl Searcher for Annealing {
    fn name(&self) -> &'static str {
        "annealing"
    }

    fn about(&self) -> &'static str {
        "simulated annealing over neighbours, on the logarithm of the response"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        loop {
            let mut point = run.space.sample(&mut run.rng)?;
            let mut response = run.measure_one(&point)?;
            let mut rejections = 0;
            while rejections < self.patience {
                let neighbours = run.space.neighbours(&point);
                if neighbours.is_empty() {
                    break;
                }
                let neighbour = neighbours[run.rng.random_range(0..neighbours.len())].clone();
                let found = run.measure_one(&neighbour)?;
                if self.accepts(response, found, run) {
                    (point, response) = (neighbour, found);
                    rejections = 0;
                } else {
                    rejections += 1;
                }
            }
        }
    }
}

impl Annealing {
    fn accepts(&self, old: Option<f64>, new: Option<f64>, run: &mut Run<'_>) -> bool {
        let (Some(old), Some(new)) = (old, new) else { return new.is_some() || old.is_none() };
        if new <= old {
            return true;
        }
        let spent = 1.0 - run.left() as f64 / run.budget().max(1) as f64;
        let temperature = self.first * (self.last / self.first).powf(spent);
        let worse = if old > 0.0 { (new / old).ln() } else { new - old };
        run.rng.random_bool((-worse / temperature).exp().clamp(0.0, 1.0))
    }
}
