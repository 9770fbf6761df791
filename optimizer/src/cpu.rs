//! Tile sizes for a CPU: the least predicted time over all half heights, flat tops and classical sizes.
//!
//! For a fixed half height, time is a sum of products of what the hexagon decides (`Outer`) and of what the classical
//! sizes decide ([`Inner`]), all of them non-negative, and the larger a working set the larger its share of misses. So
//! for each half height
//!
//! - an [`Inner`] that another one beats in every component can never be best: only the Pareto-optimal ones are looked
//!   at (few, because longer rows are better in everything but the working set);
//! - the least components over all [`Inner`]s bound the time of each flat top from below: first with the tiles that lie
//!   inside the grid alone, which is quick, then with all. Flat tops whose bound is not below the best time so far are
//!   left out.

mod naive;

use crate::request::{Evaluation, Objective};
use crate::sample::Random;
use crate::tuned::{Certificate, Choice, Method, Tuned};
use cost_models::cpu::{CpuTile, CpuTime, Inner};
use cost_models::machine::Energy;
use cost_models::time::{Prediction, Terms};
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::{Hexagon, LARGEST_SIZE};
use std::time::Instant;

/// The largest flat top that is looked at.
const MOST_FLAT_TOP: i64 = 160;
/// Flat tops up to here are looked at one by one, then multiples of 8.
const FLAT_TOPS_ONE_BY_ONE: i64 = 48;
/// The largest half height in time steps.
const MOST_HEIGHT: i64 = 64;
/// Sizes of the middle dimension of three: all up to here, then powers of two.
const MIDDLE_ONE_BY_ONE: i64 = 32;
/// Sizes of the innermost dimension, in blocks: all up to here, then in larger steps.
const BLOCKS_ONE_BY_ONE: i64 = 32;

/// The candidates of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuSpace {
    /// Half heights, ascending.
    pub heights: Vec<i64>,
    /// Flat tops, ascending; those below the least of a half height are left out there.
    pub flat_tops: Vec<i64>,
    /// Classical sizes.
    pub classical: Vec<[i64; 2]>,
}

impl CpuSpace {
    /// All tile sizes that make sense for a grid: no higher than the steps, no wider than the grid.
    pub fn new(model: &CpuTime) -> Self {
        let (statements, size) = (model.statements(), model.size());
        let most = MOST_HEIGHT.min(model.steps().max(1));
        let heights = (1..=most).map(|steps| steps * statements).collect();
        let row = size.len() == 1;
        let flat_tops = if row {
            sizes(model.block(), 128 * model.block(), size[0], 32)
        } else {
            // All groups of rows where tiles are narrow, then whole groups of the widest kind.
            (1..=MOST_FLAT_TOP.min(size[0])).filter(|&s0| s0 <= FLAT_TOPS_ONE_BY_ONE || s0 % 8 == 0).collect()
        };
        let last = |d: usize| sizes(model.block(), BLOCKS_ONE_BY_ONE * model.block(), size[d], 16);
        let classical = match size.len() {
            1 => vec![[0, 0]],
            2 => last(1).into_iter().map(|s1| [s1, 0]).collect(),
            _ => {
                let middle = sizes(1, MIDDLE_ONE_BY_ONE, size[1], 1);
                let last = last(2);
                middle.iter().flat_map(|&s1| last.iter().map(move |&s2| [s1, s2])).collect()
            }
        };
        CpuSpace { heights, flat_tops, classical }
    }

    /// Flat tops that are legal for a half height.
    pub fn flat_tops_of<'a>(&'a self, model: &CpuTime, st: i64) -> impl Iterator<Item = i64> + 'a {
        let cone = model.cone();
        let hexagon = Hexagon { half_height: st, flat_top: 1, lower: cone.lower[0], upper: cone.upper[0] };
        let least = hexagon.least_flat_top();
        self.flat_tops.iter().copied().filter(move |&s0| s0 >= least)
    }
}

/// About `number` candidates, spread evenly over the logarithms of all sizes (a Latin hypercube: each size takes each
/// of its strata once); `seed` chooses how strata meet.
pub fn stratified(model: &CpuTime, number: usize, seed: u64) -> Vec<CpuTile> {
    let space = CpuSpace::new(model);
    let axis = |values: &mut Vec<i64>, extent: i64| {
        // Not cut is as much as the whole extent.
        values.sort_by_key(|&size| if size == 0 { extent } else { size });
        values.dedup();
    };
    let dimension = model.dimension();
    let mut classical: Vec<Vec<i64>> = (0..2)
        .map(|at| space.classical.iter().map(|sizes| sizes[at]).collect::<std::collections::BTreeSet<_>>())
        .map(|sizes| sizes.into_iter().collect())
        .collect();
    for (at, sizes) in classical.iter_mut().enumerate() {
        axis(sizes, model.size().get(at + 1).copied().unwrap_or(1));
    }
    let mut random = Random::new(seed);
    let mut strata = |extent: f64| {
        let mut places: Vec<f64> = (0..number).map(|n| (n as f64 + random.next()) / number as f64).collect();
        for n in (1..number).rev() {
            let other = ((n + 1) as f64 * random.next()) as usize;
            places.swap(n, other.min(n));
        }
        places.into_iter().map(|place| extent.powf(place)).collect::<Vec<f64>>()
    };
    let nearest = |values: &[i64], wanted: f64, extent: i64| {
        let distance = |size: i64| ((if size == 0 { extent } else { size }) as f64 / wanted).ln().abs();
        values.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let highest = space.heights.last().copied().unwrap_or(1);
    let widest = space.flat_tops.iter().copied().max().unwrap_or(1);
    let (heights, tops) = (strata(highest as f64), strata(widest as f64));
    let inner: Vec<Vec<f64>> = (1..dimension).map(|d| strata(model.size()[d] as f64)).collect();
    let mut tiles: Vec<CpuTile> = (0..number)
        .map(|n| {
            let st = nearest(&space.heights, heights[n], 1);
            let flat_tops: Vec<i64> = space.flat_tops_of(model, st).collect();
            let mut tile = CpuTile { st, s0: nearest(&flat_tops, tops[n], widest), classical: [0, 0] };
            for (at, wanted) in inner.iter().enumerate() {
                tile.classical[at] = nearest(&classical[at], wanted[n], model.size()[at + 1]);
            }
            tile
        })
        .collect();
    tiles.sort_unstable();
    tiles.dedup();
    tiles
}

/// Multiples of `unit` up to `fine`, then doubling steps, below `extent`; and 0, the whole dimension.
fn sizes(unit: i64, fine: i64, extent: i64, coarse: i64) -> Vec<i64> {
    let mut sizes = vec![0];
    let mut size = unit;
    while size < extent && size <= LARGEST_SIZE {
        sizes.push(size);
        size += if size < fine { unit } else { (unit * coarse).max(size / 2) };
    }
    sizes
}

/// The strategies that have a model on a CPU.
pub const STRATEGIES: [&str; 2] = ["hhc", "naive"];

/// What to minimise on a CPU.
#[derive(Debug, Clone, Copy)]
pub struct Goal<'a> {
    /// The objective.
    pub objective: Objective,
    /// Constants of the energy model; without them only time can be minimised.
    pub energy: Option<&'a Energy>,
}

impl Goal<'_> {
    /// The least time.
    pub const TIME: Goal<'static> = Goal { objective: Objective::Time, energy: None };

    /// Whether there is what the objective needs.
    pub fn possible(&self) -> bool {
        !self.objective.needs_energy() || self.energy.is_some()
    }

    /// The value of a prediction. For all objectives but power, a prediction that is nowhere larger has no larger value.
    fn value(&self, model: &CpuTime, prediction: &Prediction) -> f64 {
        let joules = || self.energy.map_or(0.0, |constants| model.energy(prediction, constants).sum());
        match self.objective {
            Objective::Time => prediction.seconds,
            Objective::Energy => joules(),
            Objective::Power => joules() / prediction.seconds,
            Objective::Edp => joules() * prediction.seconds,
        }
    }

    /// A value that no prediction of at least so many seconds goes below.
    fn bound(&self, model: &CpuTime, seconds: f64) -> f64 {
        let terms = Terms { compute: seconds, ..Terms::default() };
        self.value(model, &Prediction { seconds, terms, ideal_s: 0.0 })
    }
}

/// The best tile sizes of each of the strategies, the best strategy first (super-tuning, formulation (i)).
pub fn super_tune_cpu(model: &CpuTime, strategies: &[&str], method: Method, goal: Goal<'_>) -> Vec<Tuned> {
    let solve = |name: &&str| match *name {
        "naive" => Some(naive::tune(model, method, goal)),
        "hhc" => Some(tune_hybrid(model, method, goal)),
        _ => None,
    };
    let mut solved: Vec<Tuned> = strategies.iter().filter_map(solve).collect();
    solved.sort_by(|a, b| a.certificate.value.total_cmp(&b.certificate.value));
    solved
}

/// The prediction for tile sizes of a strategy by name; `None` where the strategy has no model or a size is missing.
pub fn predict(model: &CpuTime, strategy: &str, tile: &TileSizes) -> Option<Prediction> {
    match strategy {
        "hhc" => Some(model.predict(CpuTile::from_sizes(tile)?)),
        "naive" => Some(model.naive(naive::sizes(tile))),
        _ => None,
    }
}

/// The fastest tile sizes of the hybrid hexagonal strategy.
pub fn tune_cpu(model: &CpuTime, method: Method) -> Tuned {
    tune_hybrid(model, method, Goal::TIME)
}

fn tune_hybrid(model: &CpuTime, method: Method, goal: Goal<'_>) -> Tuned {
    let start = Instant::now();
    let space = CpuSpace::new(model);
    // Power falls with time, so that bounds of the time say nothing about it.
    let prune = method != Method::Exhaustive && goal.objective != Objective::Power;
    let mut search = Search { goal, best: None, evaluated: 0, nodes: 0, candidates: 0 };
    // Heights in the middle first: a good value early leaves out more.
    let mut heights = space.heights.clone();
    let middle = heights.len() as i64 * 3 / 8;
    heights.sort_by_key(|&st| (st / model.statements() - middle).abs());
    if prune {
        // A few of all sizes first.
        for &st in heights.iter().step_by(6) {
            let few: Vec<i64> = space.flat_tops_of(model, st).step_by(12).collect();
            search.height(model, st, &few, &space.classical, prune);
        }
    }
    for st in heights {
        let flat_tops: Vec<i64> = space.flat_tops_of(model, st).collect();
        search.candidates += (flat_tops.len() * space.classical.len()) as u64;
        search.height(model, st, &flat_tops, &space.classical, prune);
    }
    let (value, prediction, tile) = search.best.unwrap_or_else(|| {
        let tile = CpuTile { st: model.statements(), s0: 1, classical: [0, 0] };
        let prediction = model.predict(tile);
        (goal.value(model, &prediction), prediction, tile)
    });
    let certificate = Certificate {
        value,
        bound: Some(value),
        evaluated: search.evaluated,
        nodes: search.nodes,
        pruned: search.candidates - search.evaluated,
        candidates: search.candidates,
    };
    let tile = tile.to_sizes(model.dimension());
    let choice = Choice { strategy: "hhc", tile, k: 1 };
    tuned(choice, evaluation(model, prediction, goal), certificate, method, start)
}

fn evaluation(model: &CpuTime, prediction: Prediction, goal: Goal<'_>) -> Evaluation {
    let energy = goal.energy.map(|constants| model.energy(&prediction, constants));
    Evaluation { prediction, energy, counts: Vec::new(), constraints: Vec::new() }
}

fn tuned(
    choice: Choice,
    evaluation: Evaluation,
    certificate: Certificate,
    method: Method,
    start: Instant,
) -> Tuned {
    Tuned { choice, evaluation, relaxed: None, certificate, method, elapsed_s: start.elapsed().as_secs_f64() }
}

struct Search<'a> {
    goal: Goal<'a>,
    best: Option<(f64, Prediction, CpuTile)>,
    evaluated: u64,
    nodes: u64,
    candidates: u64,
}

impl Search<'_> {
    /// All candidates of one half height.
    fn height(&mut self, model: &CpuTime, st: i64, flat_tops: &[i64], classical: &[[i64; 2]], prune: bool) {
        let inners: Vec<([i64; 2], Inner)> =
            classical.iter().map(|&sizes| (sizes, model.inner(st, sizes))).collect();
        let inners = if prune { pareto(inners) } else { inners };
        let Some(least) = least(&inners) else { return };
        let goal = self.goal;
        let below =
            |best: &Option<(f64, Prediction, CpuTile)>, value: f64| best.is_none_or(|known| value < known.0);
        self.nodes += 1;
        if prune && !below(&self.best, goal.bound(model, model.lower_bound(st, &least))) {
            return;
        }
        for &s0 in flat_tops {
            if prune
                && !below(
                    &self.best,
                    goal.value(model, &model.combine(&model.outer_below(&model.hexagons(st), s0), &least)),
                )
            {
                self.nodes += 1;
                continue;
            }
            let outer = model.outer(st, s0);
            if prune {
                self.nodes += 1;
                if !below(&self.best, goal.value(model, &model.combine(&outer, &least))) {
                    continue;
                }
            }
            for (sizes, inner) in &inners {
                self.evaluated += 1;
                let prediction = model.combine(&outer, inner);
                let value = goal.value(model, &prediction);
                let tile = CpuTile { st, s0, classical: *sizes };
                // Equal values: the first in order of sizes, so that all methods agree.
                let equal = self.best.is_some_and(|(best, _, known)| best == value && tile < known);
                if below(&self.best, value) || equal {
                    self.best = Some((value, prediction, tile));
                }
            }
        }
    }
}

fn components(inner: &Inner) -> [f64; 7] {
    [inner.calls, inner.runs, inner.blocks, inner.points, inner.area, inner.visits, inner.extent]
}

/// Those that no other one beats in every component; of equal ones the first.
fn pareto(inners: Vec<([i64; 2], Inner)>) -> Vec<([i64; 2], Inner)> {
    let mut kept: Vec<([i64; 2], Inner)> = Vec::new();
    for (sizes, inner) in inners {
        let own = components(&inner);
        let beaten = |(_, other): &([i64; 2], Inner)| components(other).iter().zip(own).all(|(a, b)| *a <= b);
        if kept.iter().any(beaten) {
            continue;
        }
        kept.retain(|(_, other)| !own.iter().zip(components(other)).all(|(a, b)| *a <= b));
        kept.push((sizes, inner));
    }
    kept
}

/// The least of every component.
fn least(inners: &[([i64; 2], Inner)]) -> Option<Inner> {
    let (_, first) = inners.first()?;
    let least = |component: fn(&Inner) -> f64| {
        inners.iter().map(|(_, inner)| component(inner)).fold(component(first), f64::min)
    };
    Some(Inner {
        calls: least(|inner| inner.calls),
        runs: least(|inner| inner.runs),
        blocks: least(|inner| inner.blocks),
        points: least(|inner| inner.points),
        area: least(|inner| inner.area),
        visits: least(|inner| inner.visits),
        extent: least(|inner| inner.extent),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cost_models::machine::Machine;

    /// A machine with every cost that the model knows.
    const MACHINE: &str = r#"
name = "two cores"
kind = "cpu"
description = "a CPU for tests"
[facts]
cores = 2
vector_bytes = 64
memory_bytes = 1e10
[[facts.caches]]
level = 1
kb = 32
shared_by = 1
line_bytes = 64
[calibration]
provenance = "stated"
source = "round numbers"
l_s_per_word = 1e-10
tau_sync_s = 1e-8
t_sync_s = 3e-6
[calibration.cpu]
threads = 2
working_sets = [
    { kb = 1000, line_s = 0, dispersion = 0 },
    { kb = 8000, line_s = 1e-9, dispersion = 0 },
    { kb = 64000, line_s = 4e-9, dispersion = 0 },
]
[calibration.cpu.bodies.heat2d.f32]
flops = 10
reads = 5
call_s = 2e-8
point_s = 1e-9
memory_line_s = 1.5e-9
relative_error = 0
dispersion = 0
measurements = 1
runs = [
    { rows = 8, run_s = 2e-8, block_s = 1.7e-8 },
    { rows = 4, run_s = 1e-8, block_s = 1e-8 },
    { rows = 2, run_s = 8e-9, block_s = 6e-9 },
    { rows = 1, run_s = 6e-9, block_s = 4e-9 },
]
"#;

    fn model(stencil: &str, size: &[i64], steps: i64) -> CpuTime {
        let machine = Machine::parse("test.toml", MACHINE).unwrap();
        let program = polyhedral::shipped::load(stencil).unwrap();
        let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
        CpuTime::new(&machine, &program, &cone, size, steps).unwrap()
    }

    #[test]
    fn sizes_on_large_grids_are_possible() {
        let model = model("heat1d", &[1 << 26], 1000);
        for tuned in super_tune_cpu(&model, &STRATEGIES, Method::Exact, Goal::TIME) {
            let sizes: Vec<i64> = tuned.choice.tile.iter().map(|(_, size)| size).collect();
            assert!(sizes.iter().all(|&size| size <= LARGEST_SIZE), "{}", tuned.choice.tile);
        }
    }

    #[test]
    fn exact_equals_exhaustive_and_looks_at_few_candidates() {
        for (stencil, size, steps) in
            [("heat1d", &[20_000][..], 9), ("heat2d", &[300, 400], 7), ("fdtd2d", &[200, 150], 5)]
        {
            let model = model(stencil, size, steps);
            let exact = tune_cpu(&model, Method::Exact);
            let exhaustive = tune_cpu(&model, Method::Exhaustive);
            assert_eq!(exact.certificate.value, exhaustive.certificate.value, "{stencil}");
            assert_eq!(exact.certificate.candidates, exhaustive.certificate.candidates);
            assert!(exact.certificate.optimal());
            assert!(exact.certificate.evaluated * 2 < exact.certificate.candidates, "{stencil}");
        }
    }

    #[test]
    fn every_objective_has_its_exact_optimum() {
        let model = model("heat2d", &[200, 300], 6);
        let energy = Energy {
            e_glob_j: 1e-9,
            e_shared_j: 1e-11,
            e_flop_j: 5e-12,
            e_sync_j: 0.0,
            e_launch_j: 1e-6,
            p_static_w: 30.0,
            provenance: cost_models::machine::Provenance::Stated,
            source: "round numbers".to_owned(),
        };
        let mut values = Vec::new();
        for objective in [Objective::Time, Objective::Energy, Objective::Power, Objective::Edp] {
            let goal = Goal { objective, energy: Some(&energy) };
            let solve = |method| super_tune_cpu(&model, &STRATEGIES, method, goal);
            let (exact, exhaustive) = (solve(Method::Exact), solve(Method::Exhaustive));
            assert_eq!(exact[0].choice, exhaustive[0].choice, "{objective:?}");
            assert_eq!(exact[0].certificate.value, exhaustive[0].certificate.value);
            assert_eq!(exact.len(), 2);
            assert!(exact[0].certificate.value <= exact[1].certificate.value);
            values.push(exact[0].evaluation.joules().unwrap());
        }
        assert!(values[1] <= values[0] && values[1] <= values[2], "{values:?}");
        assert!(!Goal { objective: Objective::Edp, energy: None }.possible() && Goal::TIME.possible());
    }

    #[test]
    fn bounds_are_below_what_they_bound() {
        let model = model("heat3d", &[60, 70, 80], 6);
        let space = CpuSpace::new(&model);
        for st in [1, 3, 6] {
            let inners: Vec<_> =
                space.classical.iter().map(|&sizes| (sizes, model.inner(st, sizes))).collect();
            let least = least(&inners).unwrap();
            let bound = model.lower_bound(st, &least);
            for s0 in [1, 5, 8, 31] {
                let outer = model.outer(st, s0);
                let nearer = model.combine(&outer, &least).seconds;
                assert!(bound <= nearer, "{st} {s0}: {bound} {nearer}");
                let quick = model.combine(&model.outer_below(&model.hexagons(st), s0), &least).seconds;
                assert!(quick <= nearer * (1.0 + 1e-12), "{st} {s0}: {quick} {nearer}");
                for (sizes, inner) in &inners {
                    let seconds = model.combine(&outer, inner).seconds;
                    assert!(nearer <= seconds, "{st} {s0} {sizes:?}: {nearer} {seconds}");
                }
            }
        }
    }
}
