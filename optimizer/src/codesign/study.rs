//! A sweep, weighed: rates and costs of every design, fronts, the best design with its certificate, and how both depend
//! on the weights.

use super::design::Design;
use super::inner::{Effort, Outcome};
use super::pareto::{Sense, front, knee};
use super::setting::Setting;
use super::sweep::{Swept, Verdict};
use cost_models::area::Area;
use serde::Serialize;

/// A design that was evaluated.
#[derive(Debug, Clone)]
pub struct Weighed {
    /// The design.
    pub design: Design,
    /// Its area.
    pub area: Area,
    /// The best tiles of every execution, stencil by stencil.
    pub outcomes: Vec<Vec<Outcome>>,
    /// Stencil by stencil.
    pub stencils: Vec<Rates>,
    /// All stencils together, by weight.
    pub all: Rates,
}

/// What a design achieves, on one stencil or on all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// Weighted harmonic mean of the rates in GFLOP/s.
    pub gflops: f64,
    /// Weighted harmonic mean of operations per energy, in GFLOP/s per watt.
    pub gflops_per_watt: f64,
    /// Weighted mean of times in seconds.
    pub seconds: f64,
    /// Weighted mean of energies in joules.
    pub joules: f64,
    /// Weighted mean of the objective's cost.
    pub cost: f64,
}

impl Rates {
    /// Watts, on average over the operations.
    pub fn watts(&self) -> f64 {
        self.gflops / self.gflops_per_watt
    }
}

/// Sums that [`Rates`] are made of: seconds and joules per flop, seconds, joules, cost, weight.
#[derive(Debug, Clone, Copy, Default)]
struct Sums([f64; 6]);

impl Sums {
    fn add(&mut self, weight: f64, values: [f64; 5]) {
        self.0.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        self.0[5] += weight;
    }

    fn rates(&self) -> Rates {
        let [per_flop, joules_per_flop, seconds, joules, cost, weight] = self.0;
        Rates {
            gflops: weight / per_flop / 1e9,
            gflops_per_watt: weight / joules_per_flop / 1e9,
            seconds: seconds / weight,
            joules: joules / weight,
            cost: cost / weight,
        }
    }
}

/// Rates of one stencil's outcomes.
pub fn rates(setting: &Setting, stencil: usize, outcomes: &[Outcome]) -> Rates {
    let mut sums = Sums::default();
    for (outcome, flops) in outcomes.iter().zip(&setting.subjects[stencil].flops) {
        let Outcome { seconds, joules, .. } = *outcome;
        let cost = setting.workload.objective.cost(seconds, joules, *flops);
        sums.add(1.0, [seconds / flops, joules / flops, seconds, joules, cost]);
    }
    sums.rates()
}

/// Rates of several stencils together, by the weights given.
pub fn together(stencils: &[Rates], weights: &[f64]) -> Rates {
    let mut sums = Sums::default();
    for (rates, weight) in stencils.iter().zip(weights) {
        let per_flop = [1.0 / rates.gflops / 1e9, 1.0 / rates.gflops_per_watt / 1e9];
        sums.add(*weight, [per_flop[0], per_flop[1], rates.seconds, rates.joules, rates.cost]);
    }
    sums.rates()
}

/// Proof that nothing better exists within the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// Cost of the optimum, in the objective's unit.
    pub value: f64,
    /// No design of the space within the budget costs less: the least over all designs, of those that were evaluated by what the
    /// searches for their tiles proved, of the others by their own bounds.
    pub bound: f64,
    /// Designs of the space.
    pub designs_in_space: usize,
    /// Those within the budget.
    pub designs_in_budget: usize,
    /// Those of them for which every execution was optimised.
    pub designs_evaluated: usize,
    /// Those that a bound excluded.
    pub designs_pruned: usize,
    /// Those on which some execution has no tile that fits.
    pub designs_infeasible: usize,
    /// Inner problems solved: executions on designs.
    pub inner_problems: usize,
    /// Tile sizes and k that fit, over all inner problems.
    pub tiles_candidates: u64,
    /// Those that the model was evaluated for; bounds exclude the others.
    pub tiles_evaluated: u64,
}

/// A study.
#[derive(Debug, Clone)]
pub struct Study {
    /// The designs that were evaluated, in the order of the sweep.
    pub designs: Vec<Weighed>,
    /// Index of the best one.
    pub best: usize,
    /// Why it is.
    pub certificate: Certificate,
    /// The fronts.
    pub fronts: Fronts,
    /// Weights of the stencils.
    pub weights: Vec<f64>,
}

/// The fronts, as indices into the designs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fronts {
    /// Rate against area.
    pub area_gflops: Vec<usize>,
    /// Its knee.
    pub knee: Option<usize>,
    /// Operations per energy against area.
    pub area_efficiency: Vec<usize>,
    /// Rate against operations per energy.
    pub gflops_efficiency: Vec<usize>,
    /// Rate, area and operations per energy together.
    pub all: Vec<usize>,
    /// Objective's cost against area.
    pub area_cost: Vec<usize>,
}

impl Study {
    /// Weighs a sweep.
    ///
    /// # Errors
    /// The name of a stencil that fits no design, where no design could be evaluated.
    pub fn new(setting: &Setting, swept: &Swept) -> Result<Study, String> {
        let weights: Vec<f64> = setting.subjects.iter().map(|subject| subject.load.weight).collect();
        let weigh = |(design, verdict): (&Design, &Verdict)| match verdict {
            Verdict::Evaluated(outcomes) => Some(weighed(setting, design, outcomes.clone(), &weights)),
            _ => None,
        };
        let designs: Vec<Weighed> = swept.designs.iter().zip(&swept.verdicts).filter_map(weigh).collect();
        let best = least(designs.iter().map(|weighed| weighed.all.cost)).ok_or_else(|| {
            let misfit = swept.verdicts.iter().find_map(|verdict| match verdict {
                Verdict::Infeasible(stencil) => Some(setting.subjects[*stencil].load.name.clone()),
                _ => None,
            });
            misfit.unwrap_or_default()
        })?;
        let Effort { candidates, evaluated } = swept.effort;
        let count = |wanted: fn(&Verdict) -> bool| swept.verdicts.iter().filter(|v| wanted(v)).count();
        let runs: usize = setting.subjects.iter().map(|subject| subject.load.runs.len()).sum();
        let certificate = Certificate {
            value: designs[best].all.cost,
            bound: bound(setting, swept, &weights),
            designs_in_space: setting.workload.space.len(),
            designs_in_budget: swept.designs.len(),
            designs_evaluated: designs.len(),
            designs_pruned: count(|verdict| matches!(verdict, Verdict::Pruned(_))),
            designs_infeasible: count(|verdict| matches!(verdict, Verdict::Infeasible(_))),
            inner_problems: designs.len() * runs,
            tiles_candidates: candidates,
            tiles_evaluated: evaluated,
        };
        Ok(Study { fronts: Fronts::of(&designs), best, certificate, weights, designs })
    }

    /// The best design.
    pub fn best(&self) -> &Weighed {
        &self.designs[self.best]
    }

    /// Index of the best design for one stencil alone: application codesign.
    pub fn best_for(&self, stencil: usize) -> usize {
        least(self.designs.iter().map(|weighed| weighed.stencils[stencil].cost)).unwrap_or(self.best)
    }

    /// Index of the best design for other weights.
    pub fn best_with(&self, weights: &[f64]) -> usize {
        least(self.designs.iter().map(|weighed| cost_with(weighed, weights))).unwrap_or(self.best)
    }

    /// How the best design depends on the weight of a stencil.
    pub fn sensitivity(&self, stencil: usize) -> Sensitivity {
        let alone = self.best_for(stencil);
        let best = self.best();
        // cost(d) = w * c + rest, the rest of the weights in proportion: linear in the weight of the stencil.
        let line = |weighed: &Weighed| {
            let own = weighed.stencils[stencil].cost;
            let others = self.weights.iter().zip(&weighed.stencils).enumerate();
            let others = others.filter(|(index, _)| *index != stencil).map(|(_, (w, rates))| w * rates.cost);
            let rest = 1.0 - self.weights[stencil];
            (own, if rest > 0.0 { others.sum::<f64>() / rest } else { own })
        };
        let (own, rest) = line(best);
        let (mut low, mut high) = (0.0_f64, 1.0_f64);
        for other in &self.designs {
            let (other_own, other_rest) = line(other);
            // best is no worse while w*(own - other_own) + (1 - w)*(rest - other_rest) <= 0
            let (a, b) = (own - other_own, rest - other_rest);
            let slope = a - b;
            let zero = -b / slope;
            if slope > 0.0 && zero.is_finite() {
                high = high.min(zero);
            } else if slope < 0.0 && zero.is_finite() {
                low = low.max(zero);
            }
        }
        let share = self.weights[stencil];
        Sensitivity {
            best_alone: alone,
            regret: best.stencils[stencil].cost / self.designs[alone].stencils[stencil].cost - 1.0,
            share,
            stays_from: low.min(share),
            stays_to: high.max(share),
        }
    }
}

/// How the best design depends on one weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sensitivity {
    /// Index of the best design for this stencil alone.
    pub best_alone: usize,
    /// What the best design for all costs this stencil more than its own, as a share.
    pub regret: f64,
    /// The share of the stencil in the weights.
    pub share: f64,
    /// From this share on, the other weights in proportion, the best design stays the best;
    pub stays_from: f64,
    /// up to this share.
    pub stays_to: f64,
}

/// Puts the outcomes of a design together.
pub fn weighed(setting: &Setting, design: &Design, outcomes: Vec<Vec<Outcome>>, weights: &[f64]) -> Weighed {
    let of = |(stencil, outcomes): (usize, &Vec<Outcome>)| rates(setting, stencil, outcomes);
    let stencils: Vec<Rates> = outcomes.iter().enumerate().map(of).collect();
    let area = setting.workload.family.area.area(design);
    Weighed { design: *design, area, all: together(&stencils, weights), stencils, outcomes }
}

/// A design with all tiles chosen anew, also those that fit no design of the study; `None` where it cannot execute the workload, or has
/// too many tiles.
pub fn evaluate(setting: &Setting, design: &Design) -> Option<Weighed> {
    let bytes = setting.hardware(design).shared_per_block_bytes;
    let larger = (bytes > setting.block_bytes).then(|| setting.for_blocks(bytes).ok());
    let setting = match &larger {
        Some(larger) => larger.as_ref()?,
        None => setting,
    };
    let outcomes: Option<Vec<Vec<Outcome>>> =
        setting.evaluate(design, &mut Effort::default()).into_iter().collect();
    let weights: Vec<f64> = setting.subjects.iter().map(|subject| subject.load.weight).collect();
    Some(weighed(setting, design, outcomes?, &weights))
}

/// The cost of a design for other weights.
pub fn cost_with(weighed: &Weighed, weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().zip(&weighed.stencils).map(|(weight, rates)| weight * rates.cost).sum();
    sum / weights.iter().sum::<f64>()
}

/// What no design of a sweep costs less than.
fn bound(setting: &Setting, swept: &Swept, weights: &[f64]) -> f64 {
    let objective = setting.workload.objective;
    let of_stencil = |(stencil, outcomes): (usize, &Vec<Outcome>)| {
        let mut sum = 0.0;
        for (outcome, flops) in outcomes.iter().zip(&setting.subjects[stencil].flops) {
            let (value, cost) =
                (outcome.value(objective), objective.cost(outcome.seconds, outcome.joules, *flops));
            // The search minimises the cost for other operations; where it proved its value, the factor is 1.
            sum += if value > 0.0 { cost * (outcome.bound / value) } else { cost };
        }
        sum / outcomes.len() as f64
    };
    let of = |verdict: &Verdict| match verdict {
        Verdict::Evaluated(outcomes) => {
            let stencils = outcomes.iter().enumerate().map(of_stencil);
            let sum: f64 = weights.iter().zip(stencils).map(|(weight, cost)| weight * cost).sum();
            sum / weights.iter().sum::<f64>()
        }
        Verdict::Pruned(bound) => *bound,
        Verdict::Infeasible(_) => f64::INFINITY,
    };
    swept.verdicts.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// Index of the least value, the first one of equal ones.
fn least(values: impl Iterator<Item = f64>) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, value) in values.enumerate() {
        if best.is_none_or(|(_, least)| value < least) {
            best = Some((index, value));
        }
    }
    best.map(|(index, _)| index)
}

impl Fronts {
    fn of(designs: &[Weighed]) -> Fronts {
        use Sense::{Maximise, Minimise};
        let area = |weighed: &Weighed| weighed.area.total();
        let points = |values: &dyn Fn(&Weighed) -> Vec<f64>| designs.iter().map(values).collect::<Vec<_>>();
        let rate = points(&|weighed| vec![area(weighed), weighed.all.gflops]);
        let area_gflops = front(&rate, &[Minimise, Maximise]);
        Fronts {
            knee: knee(&rate, &area_gflops, [Minimise, Maximise]),
            area_gflops,
            area_efficiency: front(
                &points(&|weighed| vec![area(weighed), weighed.all.gflops_per_watt]),
                &[Minimise, Maximise],
            ),
            gflops_efficiency: front(
                &points(&|weighed| vec![weighed.all.gflops, weighed.all.gflops_per_watt]),
                &[Maximise, Maximise],
            ),
            all: front(
                &points(&|weighed| vec![area(weighed), weighed.all.gflops, weighed.all.gflops_per_watt]),
                &[Minimise, Maximise, Maximise],
            ),
            area_cost: front(
                &points(&|weighed| vec![area(weighed), weighed.all.cost]),
                &[Minimise, Minimise],
            ),
        }
    }
}
