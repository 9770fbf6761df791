//! `L`: what a line from or to memory costs a tiled program, all cores at work: the time of tiles on a grid that no
//! cache holds, less the time that their rows take in a cache, per line that moves. Most of a transfer hides behind
//! the rows' own work; what a plain sweep over memory takes would be several times too much.

use super::least_squares::non_negative;
use crate::error::{ExecutionError, Result};
use crate::initial;
use crate::layout::Layout;
use crate::reference::default_parameters;
use crate::tiled;
use cost_models::cpu::CpuTime;
use cost_models::machine::Machine;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy;
use polyhedral::cone::Cone;
use polyhedral::program::Program;
use std::sync::Arc;
use std::time::Instant;
use toolchain::clock::median;
use toolchain::interference::settled;
use toolchain::interrupt;

/// Bytes of the grid: this many times the last cache, within limits.
const BEYOND_CACHE: f64 = 3.0;
const LEAST_BYTES: f64 = 64e6;
const MOST_BYTES: f64 = 512e6;
/// Time steps.
const STEPS: i64 = 24;
/// Visits per line from memory from which on they tell what they cost.
const LEAST_VISITS: f64 = 0.25;

/// Stencils whose operations hide a smaller part of the time of lines are like the others.
const HARDLY_HIDDEN: f64 = 0.6;

/// One tile that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Seconds that it took.
    pub seconds: f64,
    /// Seconds that its rows, and sweeps over its windows, take by the model.
    pub cached_s: f64,
    /// Of these, the seconds of the sweeps.
    pub swept_s: f64,
    /// Lines that its busiest thread moves from or to memory.
    pub lines: f64,
    /// Lines that it moves between the last cache and the one before it.
    pub visits: f64,
}

/// What was measured of one stencil.
#[derive(Debug, Clone, Default)]
pub struct Transfers {
    /// Its tiles.
    pub tiles: Vec<Transfer>,
    /// Rounds that other programs disturbed.
    pub disturbed: usize,
}

/// What lines cost, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineCosts {
    /// `L`: a line from or to memory.
    pub memory_s: f64,
    /// `V`: a line between the last cache and the one before it.
    pub visit_s: f64,
    /// Median of the absolute differences from `memory_s`.
    pub dispersion_s: f64,
}

/// Tiles of stencils in three dimensions have `visits` enough to tell what they cost: non-negative least squares of the
/// relative errors `(seconds - cached - L*lines - V*visits) / seconds`. Others get `V = 0` and the `L` with the least sum
/// of absolute ones, a median with weights `lines / seconds`. `None` without tiles.
///
/// The rest over the rows' time is a small difference of two larger numbers, and both have errors of some percent. One
/// stencil's tiles would give anything from a tenth to twice the `L` of all together; so those of all stencils of the same
/// dimension are pooled.
pub fn line_costs(tiles: &[Transfer]) -> Option<LineCosts> {
    let visit_s = if tiles.iter().any(|tile| tile.visits > LEAST_VISITS * tile.lines) {
        let rows: Vec<Vec<f64>> =
            tiles.iter().map(|tile| vec![tile.lines / tile.seconds, tile.visits / tile.seconds]).collect();
        let rest: Vec<f64> = tiles.iter().map(|tile| 1.0 - tile.cached_s / tile.seconds).collect();
        non_negative(&rows, &rest)[1]
    } else {
        0.0
    };
    let cost = |tile: &Transfer| (tile.seconds - tile.cached_s - visit_s * tile.visits) / tile.lines;
    let weighted: Vec<(f64, f64)> =
        tiles.iter().map(|tile| (cost(tile), tile.lines / tile.seconds)).collect();
    let memory_s = weighted_median(weighted.clone())?.max(0.0);
    let away = weighted.into_iter().map(|(cost, weight)| ((cost - memory_s).abs(), weight)).collect();
    Some(LineCosts { memory_s, visit_s, dispersion_s: weighted_median(away)? })
}

/// The part of the time of lines that one stencil's operations do not hide, by its tiles and what lines cost all stencils together: a median
/// of `(seconds - rows) / (sweeps + L*lines + V*visits)` with weights `(sweeps + L*lines + V*visits) / seconds`. The numerators are small
/// differences of larger numbers, so that a part of 0.6 and more says nothing, and counts as 1.
pub fn line_part(tiles: &[Transfer], costs: &LineCosts) -> f64 {
    let moved = |tile: &Transfer| tile.swept_s + costs.memory_s * tile.lines + costs.visit_s * tile.visits;
    let part = |tile: &Transfer| (tile.seconds - (tile.cached_s - tile.swept_s)) / moved(tile);
    let moving = tiles.iter().filter(|tile| moved(tile) > 0.0);
    let parts = moving.map(|tile| (part(tile), moved(tile) / tile.seconds)).collect();
    weighted_median(parts).filter(|part| *part < HARDLY_HIDDEN).map_or(1.0, |part| part.max(0.0))
}

/// The least value below and at which half of the weight lies.
fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    values
        .into_iter()
        .find(|(_, weight)| {
            below += weight;
            below >= half
        })
        .map(|(value, _)| value)
}

/// Times of tiles of a stencil whose other costs are in `machine`; `last_cache` in bytes.
///
/// # Errors
/// Those of the compiler and of runs.
pub fn measure(
    machine: &Machine,
    program: &Arc<Program>,
    cone: &Cone,
    last_cache: f64,
    wanted: usize,
) -> Result<Transfers> {
    let internal = |problem: String| ExecutionError::Generate(problem);
    let threads = machine.cpu().map_or(1, |facts| facts.cores as usize);
    let layout = Layout::padded(program, &grid(program, last_cache))?;
    let size = layout.size().to_vec();
    let mut data = initial::random(program, layout, STEPS, 1)?;
    let parameters = default_parameters(program);
    let time =
        CpuTime::new(machine, program, cone, &size, STEPS).map_err(|error| internal(error.to_string()))?;
    let cached = time.cached();
    let (line, visit) = (cached.with_memory_line(1.0), cached.with_visit_line(1.0));
    let mut lines = Vec::new();
    let mut natives = Vec::new();
    let strategy = strategy::preferred();
    let tiles = tiles(program, cone);
    let plan =
        |tile| strategy::plan(strategy, program, cone, tile).map_err(|error| internal(error.to_string()));
    let plans = tiles.iter().map(plan).collect::<Result<Vec<_>>>()?;
    for (tile, tiled) in tiles.iter().zip(tiled::load_all(&plans)?) {
        let native = tiled.native;
        native.library().set_threads(threads);
        native.run(program, &parameters, &mut data, STEPS)?;
        natives.push(native);
        let predict = |model: &CpuTime| model.predict(strategy, tile).map_err(internal);
        let transfer = |model: &CpuTime| predict(model).map(|prediction| prediction.terms.transfer);
        let swept = transfer(&cached)?;
        lines.push((predict(&cached)?.seconds, swept, transfer(&line)? - swept, transfer(&visit)? - swept));
    }
    let measured = settled(natives.len(), (wanted, 3 * wanted), |number| {
        interrupt::check()?;
        let start = Instant::now();
        natives[number].run(program, &parameters, &mut data, STEPS)?;
        Ok::<_, ExecutionError>(start.elapsed().as_secs_f64())
    })?;
    let tile = |(seconds, &(cached_s, swept_s, lines, visits)): (&Vec<f64>, &(f64, f64, f64, f64))| {
        Some(Transfer { seconds: median(seconds)?, cached_s, swept_s, lines, visits })
    };
    Ok(Transfers {
        tiles: measured.seconds.iter().zip(&lines).filter_map(tile).collect(),
        disturbed: measured.disturbed,
    })
}

/// A grid whose stored levels are as large as wanted, with long rows.
fn grid(program: &Program, last_cache: f64) -> Vec<i64> {
    let points =
        (BEYOND_CACHE * last_cache).clamp(LEAST_BYTES, MOST_BYTES) / program.bytes_of_a_point() as f64;
    match program.dimension() {
        1 => vec![points as i64],
        2 => vec![(points / 4096.0) as i64, 4096],
        _ => vec![(points / 65536.0) as i64, 256, 256],
    }
}

/// Tiles of middling height: transfers are a good part of their time, and do not use up the bandwidth.
fn tiles(program: &Program, cone: &Cone) -> Vec<TileSizes> {
    let space = strategy::preferred().space(program, cone);
    let sizes: &[(i64, i64, [i64; 2])] = match program.dimension() {
        1 => &[
            (16, 1024, [0, 0]),
            (16, 2048, [0, 0]),
            (24, 2048, [0, 0]),
            (32, 4096, [0, 0]),
            (64, 8192, [0, 0]),
        ],
        2 => &[
            (4, 24, [1024, 0]),
            (6, 24, [1024, 0]),
            (8, 40, [1024, 0]),
            (8, 16, [0, 0]),
            (12, 24, [1024, 0]),
        ],
        // Short and long sub-tiles, which visit the last cache often and seldom.
        _ => &[
            (4, 12, [32, 0]),
            (6, 12, [16, 0]),
            (6, 24, [16, 0]),
            (8, 12, [4, 0]),
            (8, 12, [8, 0]),
            (8, 16, [24, 0]),
            (12, 12, [6, 0]),
            (12, 12, [16, 0]),
        ],
    };
    let tile =
        |&(rows, width, inner): &(i64, i64, [i64; 2])| space.fitted(rows, &[width, inner[0], inner[1]]);
    sizes.iter().map(tile).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn one_bad_tile_does_not_decide() {
        let tile =
            |seconds: f64, lines: f64| Transfer { seconds, cached_s: 1.0, swept_s: 0.0, lines, visits: 0.0 };
        let good = [tile(1.5, 5.0), tile(2.0, 10.0), tile(1.8, 8.0)];
        assert_relative_eq!(line_costs(&good).unwrap().memory_s, 0.1, max_relative = 1e-12);
        let with_bad = [good[0], good[1], good[2], tile(9.0, 8.0)];
        let costs = line_costs(&with_bad).unwrap();
        assert_relative_eq!(costs.memory_s, 0.1, max_relative = 1e-12);
        assert!(costs.dispersion_s < 1e-12, "{costs:?}");
        assert_eq!(line_costs(&[tile(0.9, 5.0)]).unwrap().memory_s, 0.0, "no negative costs");
        assert!(line_costs(&[]).is_none());
    }

    #[test]
    fn operations_hide_lines_where_tiles_clearly_say_so() {
        let costs = LineCosts { memory_s: 0.1, visit_s: 0.0, dispersion_s: 0.0 };
        let tile =
            |seconds: f64, lines: f64| Transfer { seconds, cached_s: 3.5, swept_s: 0.5, lines, visits: 0.0 };
        // Rows take 3, lines 1, 1.5 and 2 where nothing hides them.
        let part =
            |part: f64| [tile(3.0 + part, 5.0), tile(3.0 + 1.5 * part, 10.0), tile(3.0 + 2.0 * part, 15.0)];
        assert_relative_eq!(line_part(&part(0.2), &costs), 0.2, max_relative = 1e-12);
        assert_relative_eq!(line_part(&part(-0.1), &costs), 0.0);
        assert_relative_eq!(line_part(&part(0.7), &costs), 1.0);
        assert_relative_eq!(line_part(&part(1.3), &costs), 1.0);
        assert_relative_eq!(line_part(&[], &costs), 1.0);
    }

    #[test]
    fn low_weights_say_little() {
        // Tiles that hardly move anything, and whose rest is the error of their rows' costs.
        let tile = |rest: f64, lines: f64| Transfer {
            seconds: 1.0,
            cached_s: 1.0 - rest,
            swept_s: 0.0,
            lines,
            visits: 0.0,
        };
        let tiles = [tile(0.30, 3.0), tile(0.31, 3.0), tile(0.001, 0.1), tile(0.002, 0.1), tile(0.0, 0.1)];
        let line = line_costs(&tiles).unwrap().memory_s;
        assert!((0.1..0.104).contains(&line), "{line}");
    }

    #[test]
    fn visits_of_the_last_cache_have_a_cost_of_their_own() {
        let tile = |lines: f64, visits: f64| Transfer {
            seconds: 1.0 + 0.02 * lines + 0.05 * visits,
            cached_s: 1.0,
            swept_s: 0.0,
            lines,
            visits,
        };
        let tiles = [tile(10.0, 1.0), tile(8.0, 4.0), tile(5.0, 10.0), tile(12.0, 6.0)];
        let costs = line_costs(&tiles).unwrap();
        assert_relative_eq!(costs.memory_s, 0.02, max_relative = 1e-5);
        assert_relative_eq!(costs.visit_s, 0.05, max_relative = 1e-5);
    }
}
