//! Micro-benchmarks of a GPU.
//!
//! - `T_sync`: an empty kernel, launched many times in a stream.
//! - `tau_sync`: barriers of a block that has a multiprocessor to itself.
//! - `L`: what a copy within the device's memory moves, shared by all multiprocessors: `4 bytes * n_SM / bandwidth`.
//! - `C_iter` of a stencil: its own tiles on a grid that is folded into one row, which the caches hold. The time model
//!   without transfers grows with `C_iter`; its value is the one for which the model says what was measured. Transfers
//!   from the caches are in it: they overlap with the rows as those from memory do.
//! - Energies: runs that do most of one thing each, and a counter of joules.

mod bench;

pub use bench::{DeviceBench, load};

use super::{Calibrated, quantity_of};
use crate::energy::{Events, constants, sample};
use crate::error::{ExecutionError, Result};
use cost_models::constants::{Basis, TimeConstants};
use cost_models::gpu::GpuTime;
use cost_models::hardware::Hardware;
use cost_models::machine::{Calibration, GpuFacts, Machine, Provenance, Quantity};
use hhc_codegen::counts::{Family, Problem, TileCounts, forms};
use hhc_codegen::strategy::{self, Along, Target};
use hhc_codegen::{KernelPlan, TileSizes};
use polyhedral::program::Program;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolchain::clock::median;
use toolchain::energy::EnergyMeter;

/// Largest `C_iter` that is looked for, in seconds.
const MOST_ITERATION_S: f64 = 1e-3;

/// Largest extent of a grid that is looked at.
const MOST_WIDTH: i64 = 1 << 28;

/// What a device, or something that stands for one, can be asked to do.
pub trait GpuBench {
    /// Seconds of one launch.
    ///
    /// # Errors
    /// Those of the device; so for all of these.
    fn launch_s(&mut self) -> Result<f64>;
    /// Seconds of one barrier.
    ///
    /// # Errors
    /// As above.
    fn barrier_s(&mut self) -> Result<f64>;
    /// Bytes read plus bytes written per second by a copy in memory.
    ///
    /// # Errors
    /// As above.
    fn bandwidth(&mut self) -> Result<f64>;
    /// Runs a plan on a folded grid.
    ///
    /// # Errors
    /// As above; [`ExecutionError::Plan`] where a tile does not fit.
    fn folded(&mut self, plan: &KernelPlan, size: &[i64], steps: i64) -> Result<FoldedRun>;
    /// One copy in memory: bytes read plus bytes written.
    ///
    /// # Errors
    /// As above.
    fn copy(&mut self) -> Result<f64>;
    /// Many barriers: how many.
    ///
    /// # Errors
    /// As above.
    fn barriers(&mut self) -> Result<f64>;
    /// Many launches: how many.
    ///
    /// # Errors
    /// As above.
    fn launches(&mut self) -> Result<f64>;
    /// The counter of joules, where there is one.
    fn meter(&mut self) -> Option<Box<dyn EnergyMeter>>;
}

/// A run on a folded grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoldedRun {
    /// Seconds of all launches.
    pub seconds: f64,
    /// `k`: blocks that a multiprocessor holds at once, the least over the kernels.
    pub resident: i64,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct GpuRequest {
    /// The machine with its published facts; its calibration is replaced.
    pub machine: Machine,
    /// Stencils whose `C_iter` to measure.
    pub programs: Vec<Arc<Program>>,
    /// How often each measurement is repeated.
    pub rounds: usize,
    /// What the machine file says about its source.
    pub source: String,
}

/// Measures a GPU. `progress` gets what is being measured, and the part of the work that is done.
///
/// # Errors
/// A machine that is no GPU, and those of the device.
pub fn gpu(
    request: &GpuRequest,
    bench: &mut dyn GpuBench,
    progress: &mut dyn FnMut(&str, f64),
) -> Result<Calibrated> {
    let facts = request
        .machine
        .gpu()
        .ok_or_else(|| ExecutionError::Generate(format!("machine `{}` is no GPU", request.machine.name)))?;
    progress("launches, barriers and memory", 0.0);
    let rounds = request.rounds.max(3);
    let t_sync = repeated(rounds, || bench.launch_s())?;
    let tau_sync = repeated(rounds, || bench.barrier_s())?;
    let bandwidth = repeated(rounds, || bench.bandwidth())?;
    let words: Vec<f64> = bandwidth.iter().map(|bytes| 4.0 * facts.n_sm as f64 / bytes).collect();
    let (t_sync, tau_sync, word) = (quantity_of(&t_sync), quantity_of(&tau_sync), quantity_of(&words));
    let mut c_iter_s: BTreeMap<String, BTreeMap<String, Quantity>> = BTreeMap::new();
    let mut bodies = Vec::new();
    for (number, program) in request.programs.iter().enumerate() {
        progress(&program.name, number as f64 / request.programs.len() as f64);
        let problem = Problem::new(program, &vec![1; program.dimension()], 1)
            .map_err(|error| ExecutionError::Generate(error.to_string()))?;
        let mut values = Vec::new();
        for tile in tiles(&problem, facts) {
            let body = Body::new(&problem, &tile, facts)?;
            let mut found = Vec::new();
            for _ in 0..rounds {
                match bench.folded(&body.plan, &body.problem.size, body.problem.steps) {
                    Ok(run) => found.extend(body.c_iter_s(run, facts, tau_sync.value, t_sync.value)),
                    // A tile that this device cannot have says nothing; others are smaller.
                    Err(ExecutionError::Plan(_)) => break,
                    Err(error) => return Err(error),
                }
            }
            if let Some(value) = median(&found) {
                values.push(value);
                bodies.push(body);
            }
        }
        if values.is_empty() {
            return Err(ExecutionError::Generate(format!(
                "no tile of `{}` could be measured on this device",
                program.name
            )));
        }
        let of = c_iter_s.entry(program.name.clone()).or_default();
        of.insert(super::body::element(program).to_owned(), quantity_of(&values));
    }
    progress("energies", 0.95);
    let energy = energies(bench, &bodies, &request.source)?;
    let calibration = Calibration {
        provenance: Provenance::Measured,
        source: request.source.clone(),
        l_s_per_word: word,
        tau_sync_s: tau_sync,
        t_sync_s: t_sync,
        c_iter_s,
        energy,
        cpu: None,
    };
    Ok(Calibrated {
        machine: Machine { calibration: Some(calibration), ..request.machine.clone() },
        disturbed: 0,
        unsettled: 0,
    })
}

/// So many values; the first call wakes the device up and does not count.
fn repeated(rounds: usize, mut measure: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
    measure()?;
    (0..rounds).map(|_| measure()).collect()
}

/// Tiles whose time is that of their rows: the default one of the preferred strategy, and wider ones.
fn tiles(problem: &Problem, facts: &GpuFacts) -> Vec<TileSizes> {
    let strategy = strategy::preferred();
    let default = strategy.default_tile(&problem.program, &problem.cone, Target::Cuda);
    let space = strategy.space(&problem.program, &problem.cone);
    let Some(width) = space.along(0).map(|size| size.name) else { return vec![default] };
    let own = default.get(width).unwrap_or(1);
    let limit = (facts.shared_per_block_kb * 1024.0) as i64;
    let wider = [0, own / 2, own].into_iter().map(|more| default.clone().with(width, own + more));
    let fits = |tile: &TileSizes| {
        family(problem, tile, facts).is_ok_and(|(family, sizes)| family.forms.tile_bytes(sizes) <= limit)
    };
    let mut tiles: Vec<TileSizes> = wider.filter(fits).collect();
    tiles.dedup();
    tiles
}

/// The forms of a tile.
fn family(problem: &Problem, tile: &TileSizes, facts: &GpuFacts) -> Result<(Family, [i64; 3])> {
    let on = Hardware::of("", facts).multiprocessor();
    forms(strategy::preferred()).of_tile(problem, &on, tile).map_err(ExecutionError::Generate)
}

fn counts(problem: &Problem, tile: &TileSizes, facts: &GpuFacts) -> Result<TileCounts> {
    family(problem, tile, facts).map(|(family, sizes)| family.forms.counts(0, sizes))
}

/// A tile on a grid of its own.
struct Body {
    problem: Problem,
    plan: KernelPlan,
    counts: TileCounts,
}

impl Body {
    /// The grid: eight tiles per multiprocessor, many sub-tiles, several bands of time.
    fn new(problem: &Problem, tile: &TileSizes, facts: &GpuFacts) -> Result<Body> {
        let program = &problem.program;
        let strategy = strategy::preferred();
        let space = strategy.space(program, &problem.cone);
        let length = |d: usize| space.along(d).and_then(|size| tile.get(size.name)).unwrap_or(1);
        let rows = space.sizes.iter().find_map(|size| match size.along {
            Along::Time { rows_per_step } => Some(tile.get(size.name)? / rows_per_step),
            Along::Space(_) => None,
        });
        let steps = 8 * rows.unwrap_or(1);
        let tiles = facts.n_sm * if program.dimension() == 1 { 4 } else { 8 };
        let inner = [16 * length(1), 8 * length(2)];
        let with_width = |width: i64| {
            let size = [width, inner[0], inner[1]];
            problem.with_size(&size[..program.dimension()], steps.max(1))
        };
        // As wide as it can be with so many tiles side by side.
        let (mut low, mut high) = (1, MOST_WIDTH);
        while low < high {
            let middle = low + (high - low + 1) / 2;
            let few = counts(&with_width(middle), tile, facts)?.tiles_per_wavefront <= tiles;
            if few { low = middle } else { high = middle - 1 }
        }
        let problem = with_width(low);
        let plan = strategy::plan(strategy, program, &problem.cone, tile)
            .map_err(|error| ExecutionError::Generate(error.to_string()))?;
        let counts = counts(&problem, tile, facts)?;
        Ok(Body { problem, plan, counts })
    }

    /// The `C_iter` for which the model without transfers takes as long as the run: the model is piecewise linear in
    /// it and grows. `None` where barriers and launches alone take longer.
    fn c_iter_s(&self, run: FoldedRun, facts: &GpuFacts, tau_sync_s: f64, t_sync_s: f64) -> Option<f64> {
        let seconds = |c_iter_s: f64| {
            let constants = TimeConstants {
                l_s_per_word: 0.0,
                tau_sync_s,
                t_sync_s,
                c_iter_s,
                machine_basis: Basis::Measured,
                c_iter_basis: Basis::Measured,
            };
            let model = GpuTime { n_sm: facts.n_sm, n_v: facts.n_v, constants };
            model.seconds(&self.counts, run.resident.max(1))
        };
        if seconds(0.0) >= run.seconds || seconds(MOST_ITERATION_S) <= run.seconds {
            return None;
        }
        let (mut low, mut high) = (0.0, MOST_ITERATION_S);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if seconds(middle) < run.seconds { low = middle } else { high = middle }
        }
        Some(0.5 * (low + high))
    }

    /// What happens in a run.
    fn events(&self) -> Events {
        let counts = &self.counts;
        let words = counts.word_bytes as f64 / 4.0;
        let iterations = counts.total_iterations as f64;
        let touched = counts.fast_words as f64 / counts.iterations.max(1) as f64;
        Events {
            words: 0.0,
            fast_words: iterations * touched * words,
            flops: iterations * self.problem.flops_per_iteration() * words,
            barriers: counts.total_barriers(),
            launches: counts.wavefronts as f64,
        }
    }
}

/// The constants of the energy model; `None` where no counter can be read.
fn energies(
    bench: &mut dyn GpuBench,
    bodies: &[Body],
    source: &str,
) -> Result<Option<cost_models::machine::Energy>> {
    let Some(mut meter) = bench.meter() else { return Ok(None) };
    let mut samples = Vec::new();
    samples.extend(sample(meter.as_mut(), Events::default(), || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        Ok(())
    })?);
    let words = bench.copy()? / 4.0;
    let copies = Events { words, ..Events::default() };
    samples.extend(sample(meter.as_mut(), copies, || bench.copy().map(drop))?);
    let barriers = Events { barriers: bench.barriers()?, launches: 1.0, ..Events::default() };
    samples.extend(sample(meter.as_mut(), barriers, || bench.barriers().map(drop))?);
    let launches = Events { launches: bench.launches()?, ..Events::default() };
    samples.extend(sample(meter.as_mut(), launches, || bench.launches().map(drop))?);
    for body in bodies {
        let run = || bench.folded(&body.plan, &body.problem.size, body.problem.steps).map(drop);
        samples.extend(sample(meter.as_mut(), body.events(), run)?);
    }
    let source = format!("{source}; {}", meter.name());
    Ok(constants(&samples, &source))
}

#[cfg(test)]
mod tests;
