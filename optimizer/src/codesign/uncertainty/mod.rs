//! How sure the answer is: the constants of the models vary within ranges, and designs are compared in each sample.
//!
//! With `cost(d, s)` of design `d` in sample `s`, its *regret* there is `cost(d, s) / min over designs - 1`. A robust design has
//! the least greatest regret, or the least mean; what one would pay for knowing a constant is how far the mean regret falls if
//! the choice may depend on it (the expected value of partial perfect information):
//!
//! ```text
//! value(p) = min_d mean_s regret(d, s) - mean over values v of p ( min_d mean of regret(d, s) over s with p = v )
//! ```
//!
//! Values `v` are eight bins of equal shares of the samples. The second term is too small by what eight choices gain from chance
//! alone, which is measured with bins at random, and taken off.
//!
//! Samples are a Latin hypercube of factors on the constants. In a sample every execution has the best of a pool of tiles: the
//! optimum of the study, and those of sweeps in which `C_iter` and the other constants of time are at opposite ends of their ranges. How much an exact
//! search would gain over the pool is measured on a few samples, and reported.

mod factors;
mod knowing;
mod pool;
mod ranges;

pub use ranges::{Constant, Ranges, Spread};

use super::CodesignError;
use super::design::Design;
use super::setting::Setting;
use super::study::Study;
use super::sweep::Control;
use factors::{Factors, draw};
use knowing::value_of_knowing;
use pool::{costs, pilots, pool_gap, pools};
use ranges::name;
use rayon::prelude::*;
use serde::Serialize;

/// How sure the answer is.
#[derive(Debug, Clone, Serialize)]
pub struct Uncertainty {
    /// Samples.
    pub samples: usize,
    /// What chose them.
    pub seed: u64,
    /// The constants, and how they vary.
    pub constants: Vec<Varied>,
    /// The design that is best with the constants as they are.
    pub nominal: DesignUnderUncertainty,
    /// The design with the least greatest regret,
    pub robust: DesignUnderUncertainty,
    /// and the one with the least mean regret.
    pub least_mean: DesignUnderUncertainty,
    /// All designs, by mean regret.
    pub designs: Vec<DesignUnderUncertainty>,
    /// By how much a cost of the pool of tiles is at most above that of an exact search, on a few samples.
    pub pool_gap: f64,
}

/// A constant that varies.
#[derive(Debug, Clone, Serialize)]
pub struct Varied {
    /// Its name.
    pub constant: String,
    /// How it varies.
    pub varies: String,
    /// By how much the mean regret falls if it is known when the design is chosen.
    pub value_of_knowing: f64,
}

/// A design in all samples.
#[derive(Debug, Clone, Serialize)]
pub struct DesignUnderUncertainty {
    /// The design.
    pub design: Design,
    /// Share of the samples in which it is the best.
    pub best: f64,
    /// Share of the samples in which its area is within the budget.
    pub within_budget: f64,
    /// Mean regret over the samples.
    pub mean_regret: f64,
    /// Regret that it stays below in 95 of 100 samples.
    pub regret_95: f64,
    /// The greatest regret.
    pub most_regret: f64,
    /// Costs, relative to that with the constants as they are: 5, 50 and 95 of 100 samples are below.
    pub cost: [f64; 3],
}

/// Samples the constants.
///
/// # Errors
/// Those of a sweep.
pub fn uncertainty(
    setting: &Setting,
    study: &Study,
    ranges: &Ranges,
    (samples, seed): (usize, u64),
    control: &Control<'_>,
) -> Result<Uncertainty, CodesignError> {
    let pilots = pilots(setting, study, ranges, control)?;
    let pools = pools(setting, study, &pilots);
    let stencils = setting.subjects.len();
    let drawn = draw(ranges, samples.max(1), stencils, seed);
    let nominal: Vec<f64> = costs(setting, study, &pools, &Factors::none(stencils)).0;
    // By sample: costs of all designs, and whether they are within the budget.
    let all: Vec<(Vec<f64>, Vec<bool>)> =
        drawn.par_iter().map(|(factors, _)| costs(setting, study, &pools, factors)).collect();
    if (control.stop)() {
        return Err(CodesignError::Stopped);
    }
    let least = |(costs, within): &(Vec<f64>, Vec<bool>)| {
        let inside = costs.iter().zip(within).filter(|(_, within)| **within).map(|(cost, _)| *cost);
        let least = inside.fold(f64::INFINITY, f64::min);
        // No design keeps the budget: then all compete.
        if least.is_finite() { least } else { costs.iter().copied().fold(f64::INFINITY, f64::min) }
    };
    let regrets: Vec<Vec<f64>> = all
        .iter()
        .map(|sample| {
            let least = least(sample);
            sample.0.iter().map(|cost| (cost / least - 1.0).max(0.0)).collect()
        })
        .collect();
    let of = |design: usize| {
        let number = all.len() as f64;
        let mut own: Vec<f64> = regrets.iter().map(|regrets| regrets[design]).collect();
        let mut relative: Vec<f64> = all.iter().map(|sample| sample.0[design] / nominal[design]).collect();
        own.sort_by(f64::total_cmp);
        relative.sort_by(f64::total_cmp);
        let at = |sorted: &[f64], share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let best = (0..all.len()).filter(|&sample| {
            let (costs, within) = &all[sample];
            within[design] && costs[design] <= least(&all[sample])
        });
        DesignUnderUncertainty {
            design: study.designs[design].design,
            best: best.count() as f64 / number,
            within_budget: all.iter().filter(|sample| sample.1[design]).count() as f64 / number,
            mean_regret: own.iter().sum::<f64>() / number,
            regret_95: at(&own, 0.95),
            most_regret: own.last().copied().unwrap_or(0.0),
            cost: [0.05, 0.5, 0.95].map(|share| at(&relative, share)),
        }
    };
    let each: Vec<DesignUnderUncertainty> = (0..study.designs.len()).map(of).collect();
    let by = |value: fn(&DesignUnderUncertainty) -> f64| {
        let best = each.iter().min_by(|a, b| value(a).total_cmp(&value(b)));
        best.cloned().unwrap_or_else(|| of(study.best))
    };
    let constants = (ranges.0.iter().enumerate()).map(|(index, (constant, spread))| Varied {
        constant: name(*constant, setting),
        varies: spread.text(),
        value_of_knowing: value_of_knowing(&regrets, drawn.iter().map(|(_, at)| at[index]).collect(), seed),
    });
    let mut constants: Vec<Varied> = constants.collect();
    constants.sort_by(|a, b| b.value_of_knowing.total_cmp(&a.value_of_knowing));
    let (robust, least_mean) = (by(|own| own.most_regret), by(|own| own.mean_regret));
    let pool_gap = pool_gap(setting, study, &pools, &drawn);
    let nominal = each[study.best].clone();
    let mut designs = each;
    designs.sort_by(|a, b| a.mean_regret.total_cmp(&b.mean_regret));
    Ok(Uncertainty { samples: all.len(), seed, constants, nominal, robust, least_mean, designs, pool_gap })
}
