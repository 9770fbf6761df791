//! Micro-benchmarks: what the cost models must know about a machine, measured.
//!
//! On a CPU, with all cores at work: [`launch`] gives `T_sync`, [`resident`] tiles that stay in a cache give the costs
//! of a stencil's rows ([`body`]; `C_iter` among them), and tiles of a grid that no cache holds give `L` ([`transfer`]).

pub mod body;
pub mod cpu_energy;
pub mod facts;
pub mod features;
pub mod gpu;
pub mod launch;
pub mod least_squares;
pub mod resident;
pub mod transfer;

use crate::error::{ExecutionError, Result};
use body::{
    FEW, FEWEST, MANY, cache_shares, explain, first_share, shape_of, shapes, working_set_bytes, working_sets,
};
use cost_models::machine::{
    BodyCosts, Calibration, CpuCalibration, Facts, Machine, MachineKind, Provenance, Quantity,
};
use polyhedral::analysis::analyze;
use polyhedral::program::Program;
use rayon::prelude::*;
use resident::Resident;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;
use toolchain::clock::median;
use toolchain::energy::Rapl;
use toolchain::machine::{MachineFacts, available_memory, largest_cache, processor_id};

/// Half heights of resident tiles. All rows of the lowest one are equally wide, so that every kind of run is met on its
/// own; those of high ones change as the rows of real tiles do.
const HALF_HEIGHTS: [i64; 2] = [1, 8];
/// The part of a cache that a working set may fill and count as being held by it.
const FILL: f64 = 0.6;
/// Largest working set of a core in bytes, which stands for memory.
const MOST_SET: [f64; 2] = [96e6, 256e6];
/// What a line from memory costs a tile, whose rows are computed meanwhile, as a part of what it costs a plain sweep: a
/// middling value of thorough calibrations.
const HIDDEN: f64 = 0.3;

/// The error of the fit of rows from which on they are measured again, and how often at most.
const SUSPICIOUS: f64 = 0.1;
const REPETITIONS: usize = 2;
const BRIEF_REPETITIONS: usize = 1;
/// Seconds after which no repetition begins, by effort: a machine that others keep busy stays so.
const PATIENCE_S: [f64; 2] = [0.6, 6.0];
/// Rounds of one shape in which processors wake up and reach their speed.
const WAKING: usize = 12;

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A second or two: launches, rows, and what lines cost by the size of a working set.
    Quick,
    /// Some seconds per stencil: tiles on a grid that no cache holds besides, and energies.
    Thorough,
}

/// What was measured, and how well.
#[derive(Debug, Clone)]
pub struct Calibrated {
    /// The machine, with its calibration.
    pub machine: Machine,
    /// Measurements that other programs disturbed; they were repeated.
    pub disturbed: usize,
    /// Things of which too few measurements agreed all the same.
    pub unsettled: usize,
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct CpuRequest {
    /// Name of the machine.
    pub name: String,
    /// Stencils whose bodies to measure; the first one also measures memory.
    pub programs: Vec<Arc<Program>>,
    /// Cores at work.
    pub threads: usize,
    /// How much is measured.
    pub effort: Effort,
    /// How often each measurement is repeated.
    pub rounds: usize,
    /// Whether somebody waits who runs nothing: code of rows that are added ([`add_rows`]) is compiled as that of a brief contest is
    /// ([`tiled::load_side_by_side`]), which then has it.
    ///
    /// [`tiled::load_side_by_side`]: crate::tiled::load_side_by_side
    pub brief: bool,
    /// What the machine file says about its source.
    pub source: String,
}

impl CpuRequest {
    /// Rounds, and the most that there may be where others disturb.
    fn rounds(&self) -> (usize, usize) {
        let more = if self.effort == Effort::Thorough { 2 * self.rounds } else { self.rounds / 2 };
        (self.rounds, self.rounds + more)
    }
}

/// This CPU without measurements; `threads` are the cores in use.
pub fn uncalibrated(name: &str, threads: usize) -> Machine {
    let system = MachineFacts::collect(None);
    Machine {
        name: name.to_owned(),
        kind: MachineKind::Cpu,
        description: format!("{}, {threads} cores in use", system.cpu),
        processor: Some(processor_id().to_owned()),
        facts: Facts::Cpu(facts::cpu_facts(&system, threads)),
        calibration: None,
        network: None,
        features: BTreeMap::new(),
    }
}

/// Measures this CPU. `progress` gets what is being measured, and the part of the work that is done.
///
/// # Errors
/// Those of the compiler and of runs; an interruption.
pub fn cpu(request: &CpuRequest, progress: &mut dyn FnMut(&str, f64)) -> Result<Calibrated> {
    let system = MachineFacts::collect(None);
    let (near, last) = cache_shares(&system.caches, system.usable_cpus);
    let first = first_share(&system.caches, system.usable_cpus);
    let last_cache = largest_cache(&system.caches).map_or(last, |bytes| bytes as f64);
    let thorough = request.effort == Effort::Thorough;
    let nothing = Quantity { value: 0.0, dispersion: None, runs: None };
    let (mut disturbed, mut unsettled) = (0, 0);
    let mut cpu = CpuCalibration {
        threads: request.threads as i64,
        visit_line_s: 0.0,
        working_sets: Vec::new(),
        bodies: BTreeMap::new(),
    };
    let mut calibration = Calibration {
        provenance: Provenance::Measured,
        source: request.source.clone(),
        l_s_per_word: nothing,
        tau_sync_s: nothing,
        t_sync_s: nothing,
        c_iter_s: BTreeMap::new(),
        energy: None,
        cpu: None,
    };
    let mut machine = uncalibrated(&request.name, request.threads);
    let mut calls = Vec::new();
    let mut lines = Vec::new();
    for (number, program) in request.programs.iter().enumerate() {
        let part = |done: f64| (number as f64 + done) / request.programs.len() as f64;
        progress(&format!("{}: rows in a cache", program.name), part(0.0));
        let analysis = analyze(program).map_err(|error| ExecutionError::Generate(error.to_string()))?;
        let residents = &Resident::of_heights((program, &[]), &analysis.cone, &HALF_HEIGHTS, false)?;
        if number == 0 {
            let some = shapes(&residents[0], FEWEST, FILL * near);
            residents[0].measure(&some[..some.len().min(1)], request.threads, (WAKING, WAKING))?;
            calibration.t_sync_s = launch::measure(request.threads)?;
        }
        let (mut body, found) = cached_body(residents, (first, near), request)?;
        disturbed += found.0;
        unsettled += found.1;
        if number == 0 {
            progress(&format!("{}: working sets", program.name), part(0.4));
            let most = MOST_SET[usize::from(thorough)].max(4.0 * near);
            let memory = available_memory().map_or(f64::INFINITY, |bytes| bytes as f64);
            let most = most.min(memory / (8 * request.threads) as f64);
            let sets = working_set_bytes(near, last, most);
            let sets: Vec<_> = sets.into_iter().map(|bytes| shape_of(&residents[0], bytes)).collect();
            let measured = residents[0].measure(&sets, request.threads, request.rounds())?;
            disturbed += measured.disturbed;
            unsettled += measured.unsettled;
            cpu.working_sets = working_sets(&residents[0], &body, &sets, &measured.seconds);
            let part = if thorough { 1.0 } else { HIDDEN };
            cpu.visit_line_s = part * cpu.line_s(2.0 * near);
        }
        calls.push(body.call_s);
        if thorough {
            // The model counts what tiles do, and needs the rows for it.
            enter(&residents[0], body.clone(), &system, &mut calibration.c_iter_s, &mut cpu);
            calibration.cpu = Some(cpu.clone());
            machine.calibration = Some(calibration.clone());
            progress(&format!("{}: transfers", program.name), part(0.7));
            let cone = &analysis.cone;
            let measured = transfer::measure(&machine, program, cone, last_cache, request.rounds)?;
            disturbed += measured.disturbed;
            if let Some(costs) = transfer::tile_costs(&measured.tiles) {
                body.memory_line_s = costs.memory_s;
                body.line_part = costs.line_part;
                costs.of_rows(&mut body);
            }
        } else {
            body.memory_line_s = estimated_memory_line(&cpu);
        }
        lines.push(body.memory_line_s);
        enter(&residents[0], body, &system, &mut calibration.c_iter_s, &mut cpu);
    }
    calibration.tau_sync_s = quantity_of(&calls);
    calibration.l_s_per_word = per_word(&lines);
    calibration.cpu = Some(cpu);
    if let Some(mut meter) = thorough.then(Rapl::open).flatten() {
        progress("energies", 0.98);
        let (programs, source) = (&request.programs, &request.source);
        calibration.energy = cpu_energy::energies(&mut meter, programs, request.threads, last_cache, source)?;
    }
    machine.calibration = Some(calibration);
    Ok(Calibrated { machine, disturbed, unsettled })
}

/// Measures the rows of one more stencil, quickly, for a machine that was calibrated; of these fields tiles compute witnesses.
///
/// # Errors
/// As for [`cpu`].
pub fn add_rows(
    machine: &mut Machine,
    (program, witnesses): (&Arc<Program>, &[usize]),
    request: &CpuRequest,
) -> Result<()> {
    let system = MachineFacts::collect(None);
    let (near, _) = cache_shares(&system.caches, system.usable_cpus);
    let analysis = analyze(program).map_err(|error| ExecutionError::Generate(error.to_string()))?;
    let residents =
        &Resident::of_heights((program, witnesses), &analysis.cone, &HALF_HEIGHTS, request.brief)?;
    let first = first_share(&system.caches, system.usable_cpus);
    let (mut body, _) = cached_body(residents, (first, near), request)?;
    let Some(calibration) = &mut machine.calibration else { return Ok(()) };
    let Some(cpu) = &mut calibration.cpu else { return Ok(()) };
    let known = |cost: fn(&BodyCosts) -> f64| {
        median(&cpu.bodies.values().flat_map(BTreeMap::values).map(cost).collect::<Vec<_>>())
    };
    body.memory_line_s = known(|body| body.memory_line_s).unwrap_or_else(|| estimated_memory_line(cpu));
    body.line_part = known(|body| body.line_part).unwrap_or(body.line_part);
    enter(&residents[0], body, &system, &mut calibration.c_iter_s, cpu);
    Ok(())
}

/// What tiles pay for a line from memory, where none were measured.
fn estimated_memory_line(cpu: &CpuCalibration) -> f64 {
    HIDDEN * cpu.working_sets.last().map_or(0.0, |set| set.line_s)
}

/// Enters what was measured of a stencil's rows.
fn enter(
    resident: &Resident,
    body: BodyCosts,
    system: &MachineFacts,
    iterations: &mut BTreeMap<String, BTreeMap<String, Quantity>>,
    cpu: &mut CpuCalibration,
) {
    let program = resident.program();
    let element = body::element(program).to_owned();
    let iteration = iteration(resident, &body, system);
    iterations.entry(program.name.clone()).or_default().insert(element.clone(), iteration);
    cpu.bodies.entry(program.name.clone()).or_default().insert(element, body);
}

/// Compiles what [`cpu`] and [`add_rows`] run for these programs with these witnesses, `brief` or not, all at once, into the cache.
///
/// # Errors
/// Those of the compiler.
pub fn compile_ahead(programs: &[(&Arc<Program>, &[usize], bool)]) -> Result<()> {
    let token = toolchain::cancel::Cancel::current();
    let one = |(program, witnesses, brief): (&Arc<Program>, &[usize], bool)| {
        let analysis = analyze(program).map_err(|error| ExecutionError::Generate(error.to_string()))?;
        Resident::of_heights((program, witnesses), &analysis.cone, &HALF_HEIGHTS, brief).map(|_| ())
    };
    let is_new = |number: &usize| {
        let is_other =
            |other: &(&Arc<Program>, _, bool)| other.0.to_source() != programs[*number].0.to_source();
        programs[..*number].iter().all(is_other)
    };
    let distinct: Vec<usize> = (0..programs.len()).filter(is_new).collect();
    let (all, idle) = rayon::join(
        || distinct.into_par_iter().try_for_each(|number| token.scope(|| one(programs[number]))),
        || token.scope(|| launch::compile().map(|_| ())),
    );
    all.and(idle)
}

/// From seconds per line of 64 bytes, of all stencils, to seconds per word of 4 bytes. A time of nothing would be no
/// bandwidth at all.
fn per_word(lines: &[f64]) -> Quantity {
    let words = cost_models::cpu::LINE_BYTES / 4.0;
    let of_words: Vec<f64> = lines.iter().map(|line_s| line_s / words).collect();
    let quantity = quantity_of(&of_words);
    Quantity { value: quantity.value.max(1e-16), ..quantity }
}

/// The costs of rows, in the cache before the last one; with the numbers of disturbed and of unsettled measurements.
fn cached_body(
    residents: &[Resident],
    (first, near): (f64, f64),
    request: &CpuRequest,
) -> Result<(BodyCosts, (usize, usize))> {
    let wanted = if request.effort == Effort::Thorough { MANY } else { FEW };
    let mut found = (0, 0);
    let mut once = || -> Result<BodyCosts> {
        let mut measured = Vec::new();
        for (number, resident) in residents.iter().enumerate() {
            let few = number > 0 && request.effort == Effort::Quick;
            let shapes = shapes(resident, if few { FEWEST } else { wanted }, FILL * near);
            let passes = resident.measure(&shapes, request.threads, request.rounds())?;
            found = (found.0 + passes.disturbed, found.1 + passes.unsettled);
            measured.extend(shapes.iter().map(|shape| resident.work(shape)).zip(passes.seconds));
        }
        if measured.is_empty() {
            let problem =
                format!("no rows of `{}` fit into the cache of a core", residents[0].program().name);
            return Err(ExecutionError::Generate(problem));
        }
        Ok(explain(residents[0].program(), &measured, first))
    };
    let begin = Instant::now();
    let patience_s = PATIENCE_S[usize::from(request.effort == Effort::Thorough)];
    let mut best = once()?;
    // Calls, runs and blocks explain calm measurements within some percent: what they do not explain was disturbed.
    let repetitions = if request.brief { BRIEF_REPETITIONS } else { REPETITIONS };
    for _ in 0..repetitions {
        if best.relative_error <= SUSPICIOUS || begin.elapsed().as_secs_f64() > patience_s {
            break;
        }
        let again = once()?;
        if again.relative_error < best.relative_error {
            best = again;
        }
    }
    Ok((best, found))
}

/// `C_iter`: seconds of one point of one statement on one lane, in full blocks of the cheapest kind.
fn iteration(resident: &Resident, body: &BodyCosts, system: &MachineFacts) -> Quantity {
    let cost = |rows: i64, block_s: f64| block_s / (rows * resident.block()) as f64;
    let best = body.runs.iter().map(|run| cost(run.rows, run.block_s)).fold(f64::INFINITY, f64::min);
    let bytes = resident.program().fields[0].element.bytes() as i64;
    let lanes = facts::cpu_facts(system, 1).lanes(bytes) as f64;
    let value = (best * lanes).max(1e-15);
    Quantity { value, dispersion: Some(body.dispersion * value), runs: Some(body.measurements) }
}

fn quantity_of(values: &[f64]) -> Quantity {
    let value = median(values).unwrap_or(0.0);
    let differences: Vec<f64> = values.iter().map(|other| (other - value).abs()).collect();
    Quantity { value, dispersion: median(&differences), runs: Some(values.len().max(1) as i64) }
}
