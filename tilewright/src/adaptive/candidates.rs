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
        let good = optimizer::cpu::good_tile(&model.model, first.strategy, &model.counted);
        let contest = Contest {
            model: &model,
            stencil,
            strategy: first.strategy,
            all_strategies,
            size: &own.size,
            steps: own.steps,
            calls: 1,
            threads: usize::try_from(own.threads).unwrap_or(1),
            runs: false,
            patience_s: f64::INFINITY,
            wanted: false,
            company: None,
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

/// The part of the best speed that a few candidates are to have.
pub const KEPT: f64 = 0.99;

/// The time of the best of all candidates, as a part of that of the best of a few: mean over the uses.
pub fn kept_of_best(costs: &[Vec<f64>], few: &[usize]) -> f64 {
    let uses = costs.first().map_or(0, Vec::len);
    let least = |list: &mut dyn Iterator<Item = usize>, own: usize| {
        list.map(|at| costs[at][own]).fold(f64::INFINITY, f64::min)
    };
    let part = |own| least(&mut (0..costs.len()), own) / least(&mut few.iter().copied(), own);
    (0..uses).map(part).sum::<f64>() / uses.max(1) as f64
}

/// At most `most` candidates, the first one among them, that serve all uses well, in the order in which they matter: each next one
/// is that which lowers the sum of the uses' costs, as parts of their least, by most. Of the gain over the first one alone that is
/// possible, they have at least `1 - 1/e` (Nemhauser, Wolsey, Fisher: An analysis of approximations for maximizing submodular set
/// functions, Mathematical Programming 14, 1978, doi 10.1007/BF01588971). Small gains are left out once they have [`KEPT`] of the
/// best speed: the mean of `1/x` is at least `1/mean(x)`. Where `most` of them have less, one is exchanged for another as long as that
/// lowers the sum.
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
        let gain = if now * KEPT <= least.len() as f64 { LEAST_GAIN } else { 0.0 };
        let next = (0..costs.len())
            .filter(|at| !chosen.contains(at))
            .map(|at| (at, sum(at)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((next, _)) = next.filter(|(_, sum)| *sum < now * (1.0 - gain)) else { break };
        chosen.push(next);
        for (own, served) in served.iter_mut().enumerate() {
            *served = served.min(part(next, own));
        }
    }
    let sum = |chosen: &[usize]| {
        let best = |own| chosen.iter().map(|&at| part(at, own)).fold(f64::INFINITY, f64::min);
        (0..least.len()).map(best).sum::<f64>()
    };
    let mut now = sum(&chosen);
    'exchange: while now * KEPT > least.len() as f64 {
        for place in 1..chosen.len() {
            for at in (0..costs.len()).filter(|at| !chosen.contains(at)) {
                let mut other = chosen.clone();
                other[place] = at;
                let own = sum(&other);
                if own < now * (1.0 - 1e-9) {
                    (chosen, now) = (other, own);
                    continue 'exchange;
                }
            }
        }
        break;
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
        // Many small gains are taken until 99 % of the best speed are there, but no longer.
        let many: Vec<Vec<f64>> =
            (0..60).map(|at| (0..40).map(|own| if own == at { 1.0 } else { 1.03 }).collect()).collect();
        let few = serving(&many, 60);
        let kept = |few: &[usize]| kept_of_best(&many, few);
        assert!(kept(&few) >= KEPT && kept(&few[..few.len() - 1]) < KEPT, "{few:?}");
        // Where fewer are allowed, none can be exchanged for a better one: the greedy choice, 1 and then 2 or 3, is not the best.
        let three =
            [vec![9.0; 4], vec![1.0, 2.0, 2.0, 1.0], vec![1.0, 1.0, 9.0, 9.0], vec![9.0, 9.0, 1.0, 1.0]];
        assert_eq!(serving(&three, 3), [0, 3, 2]);
        assert_eq!(serving(&[vec![1.0, f64::INFINITY], vec![f64::INFINITY, 1.0]], 4), [0, 1]);
        assert!(serving(&[], 4).is_empty());
    }
}
