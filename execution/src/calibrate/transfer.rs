//! `L`: what a line from or to memory costs a tiled program, all cores at work: the time of tiles on a grid that no
//! cache holds, less the time that their rows take in a cache, per line that moves. Most of a transfer hides behind
//! the rows' own work; what a plain sweep over memory takes would be several times too much.

use super::Measured;
use super::resident::compile;
use crate::error::{ExecutionError, Result};
use crate::grid::ProgramData;
use crate::initial;
use crate::interference::rounds;
use crate::interrupt;
use crate::layout::Layout;
use crate::reference::default_parameters;
use crate::timing::{Timing, median};
use cost_models::cpu::{CpuTile, CpuTime};
use cost_models::machine::Machine;
use hhc_codegen::strategy::{Hexagon, HybridHexagonal, Strategy};
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of the grid: this many times the last cache, within limits.
const BEYOND_CACHE: f64 = 3.0;
const LEAST_BYTES: f64 = 64e6;
const MOST_BYTES: f64 = 512e6;
/// Time steps.
const STEPS: i64 = 24;

/// Seconds per line for a stencil whose other costs are in `machine`; `last_cache` in bytes.
///
/// # Errors
/// Those of the compiler and of runs.
pub fn measure_line(
    machine: &Machine,
    program: &Arc<Program>,
    cone: &Cone,
    last_cache: f64,
    wanted: usize,
) -> Result<Measured> {
    let internal = |problem: String| ExecutionError::Generate(problem);
    let threads = machine.cpu().map_or(1, |facts| facts.cores as usize);
    let layout = Layout::padded(program, &grid(program, last_cache))?;
    let size = layout.size().to_vec();
    let mut data = ProgramData::zeroed_with(program, layout)?;
    initial::fill_random(program, &mut data, 1)?;
    let parameters = default_parameters(program);
    let time =
        CpuTime::new(machine, program, cone, &size, STEPS).map_err(|error| internal(error.to_string()))?;
    let (cached, unit) = (time.cached(), time.with_memory_line(1.0));
    let mut lines = Vec::new();
    let mut natives = Vec::new();
    for tile in tiles(program, cone) {
        let plan = HybridHexagonal
            .plan(program, cone, &tile.to_sizes(program.dimension()))
            .map_err(|error| internal(error.to_string()))?;
        let native = compile(&plan)?;
        native.library().set_threads(threads);
        native.run(program, &parameters, &mut data, STEPS)?;
        natives.push(native);
        lines.push((cached.predict(tile).seconds, unit.predict(tile).terms.transfer));
    }
    let measured = rounds(wanted, || {
        let mut seconds = Vec::with_capacity(natives.len());
        for native in &natives {
            interrupt::check()?;
            let start = Instant::now();
            native.run(program, &parameters, &mut data, STEPS)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        Ok(seconds)
    })?;
    let costs: Vec<f64> = (lines.iter().enumerate())
        .filter_map(|(index, (cached, lines))| {
            let seconds: Vec<f64> = measured.results.iter().map(|round| round[index]).collect();
            Some((median(&seconds)? - cached) / lines)
        })
        .collect();
    let timing = Timing::of(costs).ok_or_else(|| internal("no tile was measured".to_owned()))?;
    Ok(Measured {
        value: timing.median.max(0.0),
        dispersion: timing.dispersion,
        disturbed: measured.disturbed,
    })
}

/// A grid whose stored levels are as large as wanted, with long rows.
fn grid(program: &Program, last_cache: f64) -> Vec<i64> {
    let stored: usize =
        program.fields.iter().map(|field| crate::grid::slots(field.role) * field.element.bytes()).sum();
    let points = (BEYOND_CACHE * last_cache).clamp(LEAST_BYTES, MOST_BYTES) / stored as f64;
    match program.dimension() {
        1 => vec![points as i64],
        2 => vec![(points / 4096.0) as i64, 4096],
        _ => vec![(points / 65536.0) as i64, 256, 256],
    }
}

/// Tiles of middling height: transfers are a good part of their time, and do not use up the bandwidth.
fn tiles(program: &Program, cone: &Cone) -> Vec<CpuTile> {
    let statements = program.statements.len() as i64;
    let sizes: [(i64, i64, [i64; 2]); 3] = match program.dimension() {
        1 => [(16, 2048, [0, 0]), (32, 4096, [0, 0]), (64, 8192, [0, 0])],
        2 => [(6, 24, [1024, 0]), (8, 40, [1024, 0]), (12, 24, [1024, 0])],
        _ => [(4, 12, [16, 0]), (6, 12, [16, 0]), (6, 24, [16, 0])],
    };
    let tile = |(height, flat_top, classical): (i64, i64, [i64; 2])| {
        let st = (height / statements).max(1) * statements;
        let hexagon = Hexagon { half_height: st, flat_top: 1, lower: cone.lower[0], upper: cone.upper[0] };
        CpuTile { st, s0: flat_top.max(hexagon.least_flat_top()), classical }
    };
    sizes.into_iter().map(tile).collect()
}
