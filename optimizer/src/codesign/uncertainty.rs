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

use super::CodesignError;
use super::design::Design;
use super::inner::Outcome;
use super::setting::{Key, Setting};
use super::study::{Study, evaluate};
use super::sweep::{Control, Verdict, sweep};
use super::workload::{Keep, Objective};
use crate::sample::Random;
use cost_models::area::AreaModel;
use cost_models::constants::EnergyConstants;
use cost_models::energy::dynamic;
use cost_models::gpu::{GpuTime, Kernels};
use cost_models::machine::{Problem, Section, read_document};
use hhc_codegen::counts::TileCounts;
use rayon::prelude::*;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};
use std::collections::HashMap;

/// Samples on which the pool of tiles is compared with an exact search.
const CHECKED: usize = 4;
/// Values of a constant that are told apart.
const BINS: usize = 8;
/// Times that the bins are dealt out at random.
const DEALS: usize = 20;
/// The greatest factor.
const MOST: f64 = 1000.0;

/// A constant of the models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Constant {
    /// `L`, of all stencils.
    L,
    /// `C_iter` of a stencil.
    CIter(usize),
    /// `tau_sync`
    TauSync,
    /// `T_sync`
    TSync,
    /// Joules: of words from memory and from fast memory, iterations, barriers, launches; and static power.
    Energy(usize),
    /// A coefficient of the area model.
    Area(usize),
}

/// Names of the energies, and where they are.
type EnergyField = (&'static str, fn(&mut EnergyConstants) -> &mut f64);
const ENERGIES: [EnergyField; 6] = [
    ("e_glob", |energy| &mut energy.e_glob_j),
    ("e_shared", |energy| &mut energy.e_shared_j),
    ("e_iter", |energy| &mut energy.e_iter_j),
    ("e_sync", |energy| &mut energy.e_sync_j),
    ("e_launch", |energy| &mut energy.e_launch_j),
    ("p_static", |energy| &mut energy.p_static_w),
];

/// Names of the coefficients of the area model, and where they are.
type AreaField = (&'static str, fn(&mut AreaModel) -> &mut f64);
const AREAS: [AreaField; 9] = [
    ("b_vu", |area| &mut area.b_vu),
    ("b_r", |area| &mut area.b_r),
    ("a_r", |area| &mut area.a_r),
    ("b_m", |area| &mut area.b_m),
    ("a_m", |area| &mut area.a_m),
    ("a_oh", |area| &mut area.a_oh),
    ("b_l1", |area| &mut area.b_l1),
    ("b_l2", |area| &mut area.b_l2),
    ("a_l2", |area| &mut area.a_l2),
];

/// How a factor is distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Its logarithm evenly, between two factors.
    Between(f64, f64),
    /// Its logarithm normally, around 0, with this standard deviation.
    LogNormal(f64),
}

impl Spread {
    /// The factor below which a share `u` of them lies.
    fn at(self, u: f64) -> f64 {
        match self {
            Spread::Between(low, high) => low * (high / low).powf(u),
            Spread::LogNormal(sigma) => {
                let quantile = Normal::standard().inverse_cdf(u.clamp(1e-9, 1.0 - 1e-9));
                (sigma * quantile).exp()
            }
        }
    }

    fn text(self) -> String {
        match self {
            Spread::Between(low, high) => format!("{low} to {high} times, evenly in logarithms"),
            Spread::LogNormal(sigma) => format!("lognormal, sigma {sigma}"),
        }
    }
}

/// What varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges(Vec<(Constant, Spread)>);

impl Ranges {
    /// What is assumed where nobody says more: `L` and `C_iter` by a factor of 1.5, `tau_sync` and `T_sync` by 2, energies by
    /// 1.5, coefficients of the area by 1.2, in both directions.
    pub fn usual(setting: &Setting) -> Ranges {
        let by = |factor: f64| Spread::Between(1.0 / factor, factor);
        let mut ranges = vec![(Constant::L, by(1.5))];
        ranges.extend((0..setting.subjects.len()).map(|index| (Constant::CIter(index), by(1.5))));
        ranges.extend([(Constant::TauSync, by(2.0)), (Constant::TSync, by(2.0))]);
        if setting.workload.objective != Objective::Gflops && setting.workload.objective != Objective::Time {
            ranges.extend((0..ENERGIES.len()).map(|index| (Constant::Energy(index), by(1.5))));
        }
        let used = |index: &usize| {
            let mut area = setting.workload.family.area;
            *AREAS[*index].1(&mut area) > 0.0
        };
        ranges.extend((0..6).filter(used).map(|index| (Constant::Area(index), by(1.2))));
        Ranges(ranges)
    }

    /// Reads ranges: `l = 2.0` (a factor in both directions), `l = { low = 0.5, high = 1.1 }`, `l = { sigma = 0.2 }`. `c_iter` is of
    /// all stencils, each for itself; `c_iter_of.NAME` of one.
    ///
    /// # Errors
    /// Every missing, impossible or unknown value, with its line.
    pub fn parse(text: &str, setting: &Setting) -> Result<Ranges, Vec<Problem>> {
        read_document(text, |section| {
            let mut ranges: Vec<(Constant, Spread)> = Vec::new();
            let mut add = |constants: Vec<Constant>, spread: Spread| {
                for constant in constants {
                    ranges.retain(|(own, _)| *own != constant);
                    ranges.push((constant, spread));
                }
            };
            for key in section.keys() {
                if key == "c_iter_of" {
                    continue;
                }
                match named(&key, setting) {
                    Some(constants) => add(constants, spread(section, &key)),
                    None => {
                        section.ignore(&key);
                        let names: Vec<&str> =
                            ENERGIES.iter().map(|own| own.0).chain(AREAS.map(|own| own.0)).collect();
                        let known = format!(
                            "no constant; known are l, c_iter, tau_sync, t_sync, {}",
                            names.join(", ")
                        );
                        section.problem(&key, known);
                    }
                }
            }
            section.optional_table("c_iter_of", |stencils| {
                for name in stencils.keys() {
                    match setting.subjects.iter().position(|subject| subject.load.name == name) {
                        Some(index) => add(vec![Constant::CIter(index)], spread(stencils, &name)),
                        None => {
                            stencils.ignore(&name);
                            stencils.problem(&name, "no stencil of the workload");
                        }
                    }
                }
            });
            Ranges(ranges)
        })
    }
}

fn named(key: &str, setting: &Setting) -> Option<Vec<Constant>> {
    let energy = ENERGIES.iter().position(|own| own.0 == key).map(Constant::Energy);
    let area = AREAS.iter().position(|own| own.0 == key).map(Constant::Area);
    match key {
        "l" => Some(vec![Constant::L]),
        "c_iter" => Some((0..setting.subjects.len()).map(Constant::CIter).collect()),
        "tau_sync" => Some(vec![Constant::TauSync]),
        "t_sync" => Some(vec![Constant::TSync]),
        _ => energy.or(area).map(|constant| vec![constant]),
    }
}

fn spread(section: &mut Section<'_, '_>, key: &str) -> Spread {
    if !section.is_table(key) {
        let factor = section.number(key, "times, in both directions", 1.0..=MOST);
        return Spread::Between(1.0 / factor, factor);
    }
    let read = section.table(key, |own| {
        if own.has("sigma") {
            return Spread::LogNormal(own.number("sigma", "of the logarithm", 0.0..=3.0));
        }
        let low = own.number("low", "times", 1.0 / MOST..=MOST);
        let high = own.number("high", "times", 1.0 / MOST..=MOST);
        if low > high {
            own.problem("high", "less than low");
        }
        Spread::Between(low, high)
    });
    read.unwrap_or(Spread::Between(1.0, 1.0))
}

/// Factors on all constants.
#[derive(Debug, Clone, PartialEq)]
struct Factors {
    l: f64,
    c_iter: Vec<f64>,
    tau: f64,
    launch: f64,
    energy: [f64; ENERGIES.len()],
    area: [f64; AREAS.len()],
}

impl Factors {
    fn none(stencils: usize) -> Factors {
        let ones = vec![1.0; stencils];
        Factors { l: 1.0, c_iter: ones, tau: 1.0, launch: 1.0, energy: [1.0; 6], area: [1.0; 9] }
    }

    fn set(&mut self, constant: Constant, factor: f64) {
        match constant {
            Constant::L => self.l = factor,
            Constant::CIter(index) => self.c_iter[index] = factor,
            Constant::TauSync => self.tau = factor,
            Constant::TSync => self.launch = factor,
            Constant::Energy(index) => self.energy[index] = factor,
            Constant::Area(index) => self.area[index] = factor,
        }
    }

    fn area(&self, own: &AreaModel) -> AreaModel {
        let mut area = *own;
        AREAS.iter().zip(self.area).for_each(|((_, field), factor)| *field(&mut area) *= factor);
        area
    }

    fn energy(&self, own: &EnergyConstants) -> EnergyConstants {
        let mut energy = *own;
        ENERGIES.iter().zip(self.energy).for_each(|((_, field), factor)| *field(&mut energy) *= factor);
        energy
    }

    fn time(&self, stencil: usize, own: &GpuTime) -> GpuTime {
        let mut time = own.clone();
        let constants = &mut time.constants;
        constants.l_s_per_word *= self.l;
        constants.c_iter_s *= self.c_iter[stencil];
        constants.tau_sync_s *= self.tau;
        constants.t_sync_s *= self.launch;
        time
    }

    /// The setting with other constants; areas, and so the designs of the budget, stay as they are.
    fn setting(&self, setting: &Setting) -> Setting {
        let mut changed = setting.clone();
        for (index, subject) in changed.subjects.iter_mut().enumerate() {
            let time = GpuTime { n_sm: 1, n_v: 1, constants: subject.time };
            subject.time = self.time(index, &time).constants;
            subject.energy = self.energy(&subject.energy);
        }
        changed.static_w_per_mm2 *= self.energy[ENERGIES.len() - 1];
        changed
    }
}

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

/// A tile of the pool of an execution on a design.
struct Candidate {
    tiles: Kernels<TileCounts>,
    k: i64,
    time: GpuTime,
    energy: EnergyConstants,
}

/// Of a sweep, by design: the best tiles of each stencil's executions.
type Pilot = HashMap<usize, Vec<Vec<Outcome>>>;

/// Of a design, by stencil and execution: the pool.
type Pools = Vec<Vec<Vec<Candidate>>>;

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

fn name(constant: Constant, setting: &Setting) -> String {
    match constant {
        Constant::L => "L".to_owned(),
        Constant::CIter(index) => format!("C_iter of {}", setting.subjects[index].load.name),
        Constant::TauSync => "tau_sync".to_owned(),
        Constant::TSync => "T_sync".to_owned(),
        Constant::Energy(index) => ENERGIES[index].0.to_owned(),
        Constant::Area(index) => format!("{} of the area", AREAS[index].0),
    }
}

/// A Latin hypercube: factors, and the share of each constant's distribution that they are at.
fn draw(ranges: &Ranges, samples: usize, stencils: usize, seed: u64) -> Vec<(Factors, Vec<f64>)> {
    let mut random = Random::new(seed);
    let columns: Vec<Vec<f64>> = (ranges.0.iter())
        .map(|_| {
            let mut column: Vec<f64> =
                (0..samples).map(|at| (at as f64 + random.next()) / samples as f64).collect();
            shuffle(&mut column, &mut random);
            column
        })
        .collect();
    let sample = |at: usize| {
        let mut factors = Factors::none(stencils);
        let shares: Vec<f64> = columns.iter().map(|column| column[at]).collect();
        for ((constant, spread), share) in ranges.0.iter().zip(&shares) {
            factors.set(*constant, spread.at(*share));
        }
        (factors, shares)
    };
    (0..samples).map(sample).collect()
}

fn shuffle<T>(values: &mut [T], random: &mut Random) {
    for at in (1..values.len()).rev() {
        let other = ((at + 1) as f64 * random.next()) as usize;
        values.swap(at, other.min(at));
    }
}

/// Best tiles of all designs where computing is slow and moving and waiting are fast, and the other way round.
fn pilots(
    setting: &Setting,
    study: &Study,
    ranges: &Ranges,
    control: &Control<'_>,
) -> Result<Vec<Pilot>, CodesignError> {
    let (mut pilots, mut seen) = (Vec::new(), Vec::new());
    for (moving, computing) in [(0.05, 0.95), (0.95, 0.05)] {
        let mut factors = Factors::none(setting.subjects.len());
        for (constant, spread) in &ranges.0 {
            match constant {
                Constant::L | Constant::TauSync | Constant::TSync => {
                    factors.set(*constant, spread.at(moving))
                }
                Constant::CIter(_) => factors.set(*constant, spread.at(computing)),
                Constant::Energy(_) | Constant::Area(_) => {}
            }
        }
        if factors == Factors::none(setting.subjects.len()) || seen.contains(&factors) {
            continue;
        }
        seen.push(factors.clone());
        let mut changed = factors.setting(setting);
        changed.workload.keep = Keep::All;
        let control = Control { journal: None, progress: &|_| {}, stop: control.stop };
        let swept = sweep(&changed, setting.workload.budget.area_mm2, &control)?;
        let own = swept.designs.iter().zip(swept.verdicts).filter_map(|(design, verdict)| {
            let index = study.designs.iter().position(|weighed| weighed.design == *design)?;
            match verdict {
                Verdict::Evaluated(outcomes) => Some((index, outcomes)),
                _ => None,
            }
        });
        pilots.push(own.collect());
    }
    Ok(pilots)
}

/// The pools of all designs. Designs with the same tables are worked on together.
fn pools(setting: &Setting, study: &Study, pilots: &[Pilot]) -> Vec<Pools> {
    let mut groups: Vec<(Key, Vec<usize>)> = Vec::new();
    for (index, weighed) in study.designs.iter().enumerate() {
        let key = setting.key(&weighed.design);
        match groups.iter_mut().find(|(own, _)| *own == key) {
            Some((_, members)) => members.push(index),
            None => groups.push((key, vec![index])),
        }
    }
    let of_group = |(key, members): &(Key, Vec<usize>)| {
        let mut pools: Vec<(usize, Pools)> = members.iter().map(|&index| (index, Vec::new())).collect();
        for (stencil, subject) in setting.subjects.iter().enumerate() {
            let tables = setting.tables(subject, key);
            let ranked = tables.ranked();
            // Many designs have the same best tiles.
            let mut known: HashMap<_, Option<Kernels<TileCounts>>> = HashMap::new();
            for (index, own) in &mut pools {
                let weighed = &study.designs[*index];
                let on = setting.on(&weighed.design);
                let runs = (0..subject.load.runs.len()).map(|run| {
                    let outcomes = std::iter::once(&weighed.outcomes[stencil][run])
                        .chain(pilots.iter().filter_map(|pilot| Some(&pilot.get(index)?[stencil][run])));
                    let mut pool: Vec<(&Outcome, Candidate)> = Vec::new();
                    for outcome in outcomes {
                        if pool.iter().any(|(same, _)| {
                            (same.strategy, same.sizes, same.k, same.threads)
                                == (outcome.strategy, outcome.sizes, outcome.k, outcome.threads)
                        }) {
                            continue;
                        }
                        let Some(of) = ranked.iter().find(|ranked| ranked.strategy() == outcome.strategy)
                        else {
                            continue;
                        };
                        let place = (outcome.strategy.id(), run, outcome.sizes, outcome.threads);
                        let counted = || of.details(run, &outcome.sizes, outcome.threads);
                        let tiles = known.entry(place).or_insert_with(counted);
                        let model = of.model(&on, run);
                        if let (Some(tiles), Some(energy)) = (tiles.clone(), model.energy) {
                            let (time, k) = (model.time, outcome.k);
                            pool.push((outcome, Candidate { tiles, k, time, energy }));
                        }
                    }
                    pool.into_iter().map(|(_, candidate)| candidate).collect()
                });
                own.push(runs.collect());
            }
        }
        pools
    };
    let mut all: Vec<(usize, Pools)> = groups.par_iter().flat_map_iter(of_group).collect();
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, pools)| pools).collect()
}

/// Costs of all designs with these factors, and whether their areas keep the budget.
fn costs(setting: &Setting, study: &Study, pools: &[Pools], factors: &Factors) -> (Vec<f64>, Vec<bool>) {
    let area = factors.area(&setting.workload.family.area);
    let objective = setting.workload.objective;
    let all: f64 = study.weights.iter().sum();
    let of = |(index, pools): (usize, &Pools)| {
        let design = &study.designs[index].design;
        let own_area = area.total(design);
        let static_w = setting.static_w_per_mm2 * own_area;
        let stencils = pools.iter().enumerate().map(|(stencil, runs)| {
            let flops = &setting.subjects[stencil].flops;
            let costs = runs.iter().zip(flops).map(|(pool, flops)| {
                let each = pool.iter().map(|own| {
                    let time = factors.time(stencil, &own.time);
                    let seconds: f64 = own.tiles.iter().map(|counts| time.seconds(counts, own.k)).sum();
                    let mut energy = EnergyConstants { p_static_w: static_w, ..own.energy };
                    energy = factors.energy(&energy);
                    let joules: f64 = own.tiles.iter().map(|counts| dynamic(counts, &energy).sum()).sum();
                    objective.cost(seconds, joules + energy.p_static_w * seconds, *flops)
                });
                each.fold(f64::INFINITY, f64::min)
            });
            study.weights[stencil] * costs.sum::<f64>() / runs.len() as f64
        });
        (stencils.sum::<f64>() / all, own_area <= setting.workload.budget.area_mm2.1)
    };
    pools.iter().enumerate().map(of).unzip()
}

/// By how much the least mean regret falls where the choice may depend on a constant, of which `at` is the share of its
/// distribution in each sample.
fn value_of_knowing(regrets: &[Vec<f64>], at: Vec<f64>, seed: u64) -> f64 {
    let designs = regrets.first().map_or(0, Vec::len);
    let least = |samples: &[usize]| {
        let sum = |design: usize| samples.iter().map(|&sample| regrets[sample][design]).sum::<f64>();
        (0..designs).map(sum).fold(f64::INFINITY, f64::min)
    };
    let number = regrets.len();
    let bins = |order: &[usize]| {
        let size = number.div_ceil(BINS).max(1);
        order.chunks(size).map(least).sum::<f64>() / number as f64
    };
    let mut order: Vec<usize> = (0..number).collect();
    let without = least(&order) / number as f64;
    order.sort_by(|&a, &b| at[a].total_cmp(&at[b]));
    let gain = without - bins(&order);
    let mut random = Random::new(seed ^ 0x5eed);
    let mut by_chance = 0.0;
    for _ in 0..DEALS {
        shuffle(&mut order, &mut random);
        by_chance += (without - bins(&order)) / DEALS as f64;
    }
    (gain - by_chance).max(0.0)
}

/// What an exact search gains over the pool, on the best design of the study and some samples.
fn pool_gap(setting: &Setting, study: &Study, pools: &[Pools], drawn: &[(Factors, Vec<f64>)]) -> f64 {
    let gap = |(factors, _): &(Factors, Vec<f64>)| {
        // Areas stay: static power is compared with the same.
        let factors = Factors { area: [1.0; AREAS.len()], ..factors.clone() };
        let pool = costs(setting, study, pools, &factors).0[study.best];
        let exact = evaluate(&factors.setting(setting), &study.best().design);
        exact.map_or(0.0, |exact| (pool / exact.all.cost - 1.0).max(0.0))
    };
    drawn.par_iter().take(CHECKED).map(gap).reduce(|| 0.0, f64::max)
}
