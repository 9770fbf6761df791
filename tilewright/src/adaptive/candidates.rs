//! Tilings that may be the best for some use, and which few of them serve all uses.

use super::uses::Use;
use crate::contest::Contest;
use crate::cpu_model::CpuModel;
use crate::error::Result;
use crate::load::Stencil;
use cost_models::machine::Machine;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{self, Strategy};

/// Tilings that are measured at most.
const MOST: usize = 16;

/// A strategy with its tile sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    /// The tile.
    pub tile: TileSizes,
}

/// Tilings and what they cost.
pub struct Candidates {
    /// The tilings, the fixed one first.
    pub all: Vec<Candidate>,
    /// Seconds that the model predicts: `costs[candidate][use]`.
    pub costs: Vec<Vec<f64>>,
}

/// The best tilings for each use by the model, with those beside them that a contest would time. `first` is one of them.
///
/// # Errors
/// A grid on which nothing is computed; a machine without a model.
pub fn candidates(
    stencil: &Stencil,
    first: &Candidate,
    all_strategies: bool,
    uses: &[Use],
    machine: &Machine,
) -> Result<Candidates> {
    let mut all = vec![first.clone()];
    let mut models: Vec<CpuModel> = Vec::new();
    for own in uses {
        let model = CpuModel::new(stencil, &own.size, own.steps, machine.clone(), Some(own.threads))?;
        let good = optimizer::cpu::good_tile(&model.model, first.strategy);
        let contest = Contest {
            model: &model,
            stencil,
            strategy: first.strategy,
            all_strategies,
            size: &own.size,
            steps: own.steps,
            threads: usize::try_from(own.threads).unwrap_or(1),
            runs: false,
            wanted: false,
        };
        let entrants = contest.entrants(&good.unwrap_or_else(|| first.tile.clone()));
        for entrant in entrants.into_iter().filter(|entrant| entrant.predicted_s.is_some()) {
            let other = Candidate { strategy: strategy::by_name(entrant.strategy)?, tile: entrant.tile };
            if !all.contains(&other) {
                all.push(other);
            }
        }
        models.push(model);
    }
    let predict = |one: &Candidate, model: &CpuModel| {
        model.model.time.predict(one.strategy, &one.tile).map_or(f64::INFINITY, |found| found.seconds)
    };
    let costs: Vec<Vec<f64>> =
        all.iter().map(|one| models.iter().map(|model| predict(one, model)).collect()).collect();
    let few = serving(&costs, MOST);
    let take = |at: &usize| (all[*at].clone(), costs[*at].clone());
    let (all, costs) = few.iter().map(take).unzip();
    Ok(Candidates { all, costs })
}

/// At most `most` candidates, the first one among them, that serve all uses well, in the order in which they matter: each next one
/// is that which lowers the sum of the uses' costs, as parts of their least, by most. Of the gain over the first one alone that is
/// possible, they have at least `1 - 1/e` (Nemhauser, Wolsey, Fisher: An analysis of approximations for maximizing submodular set
/// functions, Mathematical Programming 14, 1978, doi 10.1007/BF01588971).
pub fn serving(costs: &[Vec<f64>], most: usize) -> Vec<usize> {
    /// A gain below this part of the costs is none.
    const LEAST_GAIN: f64 = 1e-3;
    let Some(first) = costs.first() else { return Vec::new() };
    let least: Vec<f64> = (0..first.len())
        .map(|own| costs.iter().map(|costs| costs[own]).fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE))
        .collect();
    let part = |at: usize, own: usize| (costs[at][own] / least[own]).min(1e6);
    let mut chosen = vec![0];
    let mut served: Vec<f64> = (0..least.len()).map(|own| part(0, own)).collect();
    while chosen.len() < most {
        let sum = |at: usize| (0..least.len()).map(|own| served[own].min(part(at, own))).sum::<f64>();
        let now: f64 = served.iter().sum();
        let next = (0..costs.len())
            .filter(|at| !chosen.contains(at))
            .map(|at| (at, sum(at)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((next, _)) = next.filter(|(_, sum)| *sum < now * (1.0 - LEAST_GAIN)) else { break };
        chosen.push(next);
        for (own, served) in served.iter_mut().enumerate() {
            *served = served.min(part(next, own));
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_next_one_gains_most() {
        let costs = [vec![4.0, 4.0, 4.0], vec![1.0, 9.0, 9.0], vec![9.0, 1.0, 1.0], vec![4.0, 4.0, 3.999]];
        assert_eq!(serving(&costs, 2), [0, 2]);
        assert_eq!(serving(&costs, 8), [0, 2, 1]);
        assert_eq!(serving(&[vec![1.0]], 4), [0]);
        assert_eq!(serving(&[vec![1.0, f64::INFINITY], vec![f64::INFINITY, 1.0]], 4), [0, 1]);
        assert!(serving(&[], 4).is_empty());
    }
}
