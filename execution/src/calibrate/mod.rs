//! Micro-benchmarks: what the cost models must know about a machine, measured.
//!
//! On a CPU, with all cores at work: [`launch`] gives `T_sync`, [`resident`] tiles that stay in a cache give the costs
//! of a stencil's rows ([`body`]; `C_iter` among them), and tiles of a grid that no cache holds give `L` ([`transfer`]).

pub mod body;
pub mod cpu_energy;
pub mod facts;
pub mod gpu;
pub mod launch;
pub mod least_squares;
pub mod resident;
pub mod transfer;

use crate::error::{ExecutionError, Result};
use body::{cache_bytes, explain, shape_of, shapes, working_sets};
use cost_models::machine::{
    BodyCosts, Calibration, CpuCalibration, Facts, Machine, MachineKind, Provenance, Quantity,
};
use polyhedral::analysis::analyze;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use resident::Resident;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolchain::clock::{Timing, median};
use toolchain::energy::Rapl;
use toolchain::machine::MachineFacts;

/// Half heights of resident tiles. The rows of low ones differ little in width, so that every kind of run is met on its
/// own; those of high ones change as the rows of real tiles do.
const HALF_HEIGHTS: [i64; 2] = [2, 8];
/// The part of a cache that a working set may fill and count as being held by it.
const FILL: f64 = 0.6;
/// Working sets that are measured: parts of a core's share of the last cache.
const PARTS: [f64; 9] = [0.125, 0.25, 0.375, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0];
/// Largest box in bytes that is looked at for the costs of rows.
const MOST_RESIDENT: f64 = 4e6;
/// Bytes that count as a core's share of the last cache where the system tells none.
const UNKNOWN_CACHE: f64 = 1e6;

/// What was measured, and how well.
#[derive(Debug, Clone)]
pub struct Calibrated {
    /// The machine, with its calibration.
    pub machine: Machine,
    /// Rounds that other programs disturbed; they were repeated as far as possible.
    pub disturbed: usize,
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
    /// How often each measurement is repeated.
    pub rounds: usize,
    /// What the machine file says about its source.
    pub source: String,
}

/// Measures this CPU. `progress` gets what is being measured, and the part of the work that is done.
///
/// # Errors
/// Those of the compiler and of runs; an interruption.
pub fn cpu(request: &CpuRequest, progress: &mut dyn FnMut(&str, f64)) -> Result<Calibrated> {
    let system = MachineFacts::collect(None);
    let caches = cache_bytes(&system.caches);
    let share = caches.last().copied().unwrap_or(UNKNOWN_CACHE);
    let last_cache = system.caches.iter().map(|cache| cache.bytes).max().unwrap_or(UNKNOWN_CACHE as u64);
    progress("launches", 0.0);
    let launch = launch::measure_launch(request.threads, request.rounds.max(5))?;
    let nothing = Quantity { value: 0.0, dispersion: None, runs: None };
    let mut disturbed = 0;
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
        t_sync_s: quantity(&launch),
        c_iter_s: BTreeMap::new(),
        energy: None,
        cpu: None,
    };
    let mut machine = Machine {
        name: request.name.clone(),
        kind: MachineKind::Cpu,
        description: format!("{}, {} cores in use", system.cpu, request.threads),
        facts: Facts::Cpu(facts::cpu_facts(&system, request.threads)),
        calibration: None,
    };
    let mut calls = Vec::new();
    // Tiles by the dimension of their stencil.
    let mut transfers: [Vec<transfer::Transfer>; 3] = Default::default();
    for (number, program) in request.programs.iter().enumerate() {
        let part = |done: f64| (number as f64 + done) / request.programs.len() as f64;
        progress(&format!("{}: rows in a cache", program.name), part(0.0));
        let analysis = analyze(program).map_err(|error| ExecutionError::Generate(error.to_string()))?;
        let residents = residents(program, &analysis.cone)?;
        let (body, repeated) = cached_body(&residents, share, request)?;
        disturbed += repeated;
        if number == 0 {
            progress(&format!("{}: working sets", program.name), part(0.4));
            let parts: Vec<_> = PARTS.iter().map(|part| shape_of(&residents[0], part * share)).collect();
            let measured = residents[0].measure(&parts, request.threads, request.rounds)?;
            disturbed += measured.disturbed;
            cpu.working_sets = working_sets(&residents[0], &body, &parts, &measured.seconds);
        }
        calls.push(body.call_s);
        let element = body::element(program).to_owned();
        let iteration = iteration(&residents[0], &body, &system);
        calibration.c_iter_s.entry(program.name.clone()).or_default().insert(element.clone(), iteration);
        cpu.bodies.entry(program.name.clone()).or_default().insert(element.clone(), body);
        calibration.cpu = Some(cpu.clone());
        machine.calibration = Some(calibration.clone());
        progress(&format!("{}: transfers", program.name), part(0.7));
        let cone = &analysis.cone;
        let measured = transfer::measure(&machine, program, cone, last_cache as f64, request.rounds)?;
        disturbed += measured.disturbed;
        transfers[program.dimension() - 1].extend(measured.tiles);
    }
    let lines = transfers.each_ref().map(|tiles| transfer::line_costs(tiles));
    cpu.visit_line_s = lines.iter().flatten().map(|costs| costs.visit_s).fold(0.0, f64::max);
    for program in &request.programs {
        let body = cpu.bodies.get_mut(&program.name).and_then(|of| of.get_mut(body::element(program)));
        if let (Some(body), Some(costs)) = (body, lines[program.dimension() - 1]) {
            body.memory_line_s = costs.memory_s;
        }
    }
    calibration.tau_sync_s = quantity_of(&calls);
    calibration.l_s_per_word = per_word(&lines, transfers.iter().map(Vec::len).sum());
    calibration.cpu = Some(cpu);
    if let Some(mut meter) = Rapl::open() {
        progress("energies", 0.98);
        let (programs, source) = (&request.programs, &request.source);
        calibration.energy =
            cpu_energy::energies(&mut meter, programs, request.threads, last_cache as f64, source)?;
    }
    machine.calibration = Some(calibration);
    Ok(Calibrated { machine, disturbed })
}

/// From seconds per line of 64 bytes, by dimension, to the median in seconds per word of 4 bytes. A time of nothing would
/// be no bandwidth at all.
fn per_word(lines: &[Option<transfer::LineCosts>], measurements: usize) -> Quantity {
    let words = cost_models::cpu::LINE_BYTES / 4.0;
    let of = |part: fn(&transfer::LineCosts) -> f64| {
        let known: Vec<f64> = lines.iter().flatten().map(part).collect();
        median(&known).map(|value| value / words)
    };
    Quantity {
        value: of(|costs| costs.memory_s).unwrap_or(0.0).max(1e-16),
        dispersion: of(|costs| costs.dispersion_s),
        runs: Some(measurements.max(1) as i64),
    }
}

fn residents(program: &Arc<Program>, cone: &Cone) -> Result<[Resident; 2]> {
    let [low, high] = HALF_HEIGHTS;
    Ok([Resident::new(program, cone, low)?, Resident::new(program, cone, high)?])
}

fn cached_body(residents: &[Resident], share: f64, request: &CpuRequest) -> Result<(BodyCosts, usize)> {
    let (mut measured, mut disturbed) = (Vec::new(), 0);
    for resident in residents {
        let shapes = shapes(resident, FILL * share.min(MOST_RESIDENT));
        let found = resident.measure(&shapes, request.threads, request.rounds)?;
        disturbed += found.disturbed;
        measured.extend(shapes.iter().map(|shape| resident.work(shape)).zip(found.seconds));
    }
    Ok((explain(residents[0].program(), &measured), disturbed))
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

fn quantity(timing: &Timing) -> Quantity {
    Quantity {
        value: timing.median,
        dispersion: Some(timing.dispersion),
        runs: Some(timing.seconds_all.len() as i64),
    }
}

fn quantity_of(values: &[f64]) -> Quantity {
    let value = median(values).unwrap_or(0.0);
    let differences: Vec<f64> = values.iter().map(|other| (other - value).abs()).collect();
    Quantity { value, dispersion: median(&differences), runs: Some(values.len().max(1) as i64) }
}
