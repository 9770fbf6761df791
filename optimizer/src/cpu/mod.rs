//! Tile sizes for a CPU: the least predicted time over all tiles that a strategy names.
//!
//! Where the tiles are products ([`Products`]: of depths, widths and inner sizes), time is for a fixed depth a sum of
//! products of what the width decides (`Outer`) and of what the inner sizes decide ([`Inner`]), all of them non-negative,
//! and the larger a working set the larger its share of misses. So for each depth
//!
//! - an [`Inner`] that another one beats in every component can never be best: only the Pareto-optimal ones are looked
//!   at (few, because longer rows are better in everything but the working set);
//! - the least components over all [`Inner`]s bound the time of each width from below: first with the tiles that lie
//!   inside the grid alone, which is quick, then with all. Widths whose bound is not below the best time so far are
//!   left out.
//!
//! Where a strategy names few tiles, each is evaluated.

mod sample;

pub use sample::stratified;

use crate::request::{Evaluation, Objective};
use crate::tuned::{Certificate, Choice, Method, Tuned};
use cost_models::cpu::CpuTime;
use cost_models::machine::Energy;
use cost_models::time::{Prediction, Terms};
use hhc_codegen::TileSizes;
use hhc_codegen::counts::cores::{CoreSpace, Inner, Products};
use hhc_codegen::counts::forms;
use hhc_codegen::strategy::Strategy;
use std::time::Instant;

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

/// The best tile sizes of each of the strategies that can tile the program, the best strategy first (super-tuning,
/// formulation (i)).
pub fn super_tune_cpu(
    model: &CpuTime,
    strategies: &[&'static dyn Strategy],
    method: Method,
    goal: Goal<'_>,
) -> Vec<Tuned> {
    let tuned = |&strategy: &&'static dyn Strategy| tune_cpu(model, strategy, method, goal);
    let mut solved: Vec<Tuned> = strategies.iter().filter_map(tuned).collect();
    solved.sort_by(|a, b| a.certificate.value.total_cmp(&b.certificate.value));
    solved
}

/// The best tile sizes of a strategy; `None` where it cannot tile the program.
pub fn tune_cpu(
    model: &CpuTime,
    strategy: &'static dyn Strategy,
    method: Method,
    goal: Goal<'_>,
) -> Option<Tuned> {
    let start = Instant::now();
    let cores = model.cores();
    strategy.takes(&cores.program, &cores.cone).ok()?;
    let found = match forms(strategy).core_space(cores) {
        CoreSpace::Each(tiles) => best_of(model, strategy, &tiles, goal),
        CoreSpace::Products(space) => best_product(model, space.as_ref(), method, goal),
    }?;
    let Found { prediction, tile, certificate } = found;
    let energy = goal.energy.map(|constants| model.energy(&prediction, constants));
    let evaluation = Evaluation { prediction, energy, counts: Vec::new(), constraints: Vec::new() };
    Some(Tuned {
        choice: Choice { strategy: strategy.id(), tile, k: 1 },
        evaluation,
        relaxed: None,
        certificate,
        method,
        elapsed_s: start.elapsed().as_secs_f64(),
    })
}

/// The best of a search.
struct Found {
    prediction: Prediction,
    tile: TileSizes,
    certificate: Certificate,
}

/// Evaluates every tile.
fn best_of(
    model: &CpuTime,
    strategy: &'static dyn Strategy,
    tiles: &[TileSizes],
    goal: Goal<'_>,
) -> Option<Found> {
    let (mut best, mut evaluated): (Option<(f64, Prediction, &TileSizes)>, u64) = (None, 0);
    for tile in tiles {
        let Ok(prediction) = model.predict(strategy, tile) else { continue };
        evaluated += 1;
        let value = goal.value(model, &prediction);
        if best.is_none_or(|(known, ..)| value < known) {
            best = Some((value, prediction, tile));
        }
    }
    let (value, prediction, tile) = best?;
    let certificate =
        Certificate { value, bound: Some(value), evaluated, nodes: 0, pruned: 0, candidates: evaluated };
    Some(Found { prediction, tile: tile.clone(), certificate })
}

/// Searches products of sizes.
fn best_product(model: &CpuTime, space: &dyn Products, method: Method, goal: Goal<'_>) -> Option<Found> {
    // Power falls with time, so that bounds of the time say nothing about it.
    let prune = method != Method::Exhaustive && goal.objective != Objective::Power;
    let mut search = Search { model, space, goal, best: None, evaluated: 0, nodes: 0, candidates: 0 };
    // Depths in the middle first: a good value early leaves out more.
    let mut depths = space.depths().to_vec();
    let middle = depths.len() as i64 * 3 / 8;
    depths.sort_by_key(|&depth| (depth / model.cores().statements() - middle).abs());
    let inner = space.inner_sizes();
    if prune {
        // A few of all sizes first.
        for &depth in depths.iter().step_by(6) {
            let few: Vec<i64> = space.widths_of(depth).into_iter().step_by(12).collect();
            search.depth(depth, &few, inner, prune);
        }
    }
    for depth in depths {
        let widths = space.widths_of(depth);
        search.candidates += (widths.len() * inner.len()) as u64;
        search.depth(depth, &widths, inner, prune);
    }
    let (value, prediction, tile) = match search.best {
        Some(best) => best,
        // A grid so small that no width is left.
        None => {
            let depth = *space.depths().first()?;
            let tile = Tile { depth, width: space.least_width(depth), inner: [0, 0] };
            let prediction = model.combine(&space.outer(depth, tile.width), &space.inner(depth, tile.inner));
            (goal.value(model, &prediction), prediction, tile)
        }
    };
    let certificate = Certificate {
        value,
        bound: Some(value),
        evaluated: search.evaluated,
        nodes: search.nodes,
        pruned: search.candidates - search.evaluated,
        candidates: search.candidates,
    };
    Some(Found { prediction, tile: space.tile(tile.depth, tile.width, tile.inner), certificate })
}

/// A tile of a product, in the order in which of equal ones the first is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Tile {
    depth: i64,
    width: i64,
    inner: [i64; 2],
}

struct Search<'a> {
    model: &'a CpuTime,
    space: &'a dyn Products,
    goal: Goal<'a>,
    best: Option<(f64, Prediction, Tile)>,
    evaluated: u64,
    nodes: u64,
    candidates: u64,
}

impl Search<'_> {
    /// All candidates of one depth.
    fn depth(&mut self, depth: i64, widths: &[i64], inner: &[[i64; 2]], prune: bool) {
        let (model, space, goal) = (self.model, self.space, self.goal);
        let inners: Vec<([i64; 2], Inner)> =
            inner.iter().map(|&sizes| (sizes, space.inner(depth, sizes))).collect();
        let inners = if prune { pareto(inners) } else { inners };
        let Some(least) = least(&inners) else { return };
        let below =
            |best: &Option<(f64, Prediction, Tile)>, value: f64| best.is_none_or(|known| value < known.0);
        self.nodes += 1;
        let bound = model.lower_bound(space.least_wavefronts(depth), &least);
        if prune && !below(&self.best, goal.bound(model, bound)) {
            return;
        }
        for &width in widths {
            if prune {
                let quick = model.combine(&space.outer_below(depth, width), &least);
                if !below(&self.best, goal.value(model, &quick)) {
                    self.nodes += 1;
                    continue;
                }
            }
            let outer = space.outer(depth, width);
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
                let tile = Tile { depth, width, inner: *sizes };
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
    use hhc_codegen::strategy::{self, LARGEST_SIZE};

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
        for tuned in super_tune_cpu(&model, strategy::all(), Method::Exact, Goal::TIME) {
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
            let exact = tune_cpu(&model, strategy::all()[0], Method::Exact, Goal::TIME).unwrap();
            let exhaustive = tune_cpu(&model, strategy::all()[0], Method::Exhaustive, Goal::TIME).unwrap();
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
            let strategies: Vec<_> = strategy::in_auto().collect();
            let solve = |method| super_tune_cpu(&model, &strategies, method, goal);
            let (exact, exhaustive) = (solve(Method::Exact), solve(Method::Exhaustive));
            assert_eq!(exact[0].choice, exhaustive[0].choice, "{objective:?}");
            assert_eq!(exact[0].certificate.value, exhaustive[0].certificate.value);
            assert_eq!(exact.len(), strategies.len());
            assert!(exact[0].certificate.value <= exact[1].certificate.value);
            values.push(exact[0].evaluation.joules().unwrap());
        }
        assert!(values[1] <= values[0] && values[1] <= values[2], "{values:?}");
        assert!(!Goal { objective: Objective::Edp, energy: None }.possible() && Goal::TIME.possible());
    }

    #[test]
    fn bounds_are_below_what_they_bound() {
        let model = model("heat3d", &[60, 70, 80], 6);
        let CoreSpace::Products(space) = forms(strategy::all()[0]).core_space(model.cores()) else {
            panic!()
        };
        for depth in [1, 3, 6] {
            let sizes = space.inner_sizes().iter();
            let inners: Vec<_> = sizes.map(|&sizes| (sizes, space.inner(depth, sizes))).collect();
            let least = least(&inners).unwrap();
            let bound = model.lower_bound(space.least_wavefronts(depth), &least);
            for width in [1, 5, 8, 31] {
                let outer = space.outer(depth, width);
                let nearer = model.combine(&outer, &least).seconds;
                assert!(bound <= nearer, "{depth} {width}: {bound} {nearer}");
                let quick = model.combine(&space.outer_below(depth, width), &least).seconds;
                assert!(quick <= nearer * (1.0 + 1e-12), "{depth} {width}: {quick} {nearer}");
                for (sizes, inner) in &inners {
                    let seconds = model.combine(&outer, inner).seconds;
                    assert!(nearer <= seconds, "{depth} {width} {sizes:?}: {nearer} {seconds}");
                }
            }
        }
    }
}
