//! What tiles of a grid that no cache holds take beyond their rows in a cache, all cores at work: lines from and to memory,
//! lines between caches, and rows that begin anew. Most of a transfer hides behind the rows' own work; what a plain sweep
//! over memory takes would be several times too much.

use super::least_squares::non_negative;
use crate::error::{ExecutionError, Result};
use crate::initial;
use crate::layout::Layout;
use crate::reference::default_parameters;
use crate::tiled;
use cost_models::cpu::CpuTime;
use cost_models::machine::{BodyCosts, Machine};
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
const STEPS: i64 = 32;

/// One tile that was measured, and what it does: its time is
/// `rows * rows_s + memory_s * lines + again_s + line_part * between_s + run_s * runs`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Seconds that it took.
    pub seconds: f64,
    /// Seconds that its rows take in a cache, by the model.
    pub rows_s: f64,
    /// Lines that its busiest thread moves from or to memory.
    pub lines: f64,
    /// Seconds that lines take which come from memory again and again, by the model.
    pub again_s: f64,
    /// Seconds that its lines between caches take if nothing hides them, by the model.
    pub between_s: f64,
    /// Runs of rows that it begins.
    pub runs: f64,
}

/// What was measured of one stencil.
#[derive(Debug, Clone, Default)]
pub struct Transfers {
    /// Its tiles.
    pub tiles: Vec<Transfer>,
    /// Rounds that other programs disturbed.
    pub disturbed: usize,
}

/// What tiles cost beyond their rows in a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TileCosts {
    /// Seconds of a line from or to memory.
    pub memory_s: f64,
    /// The part of the time of lines between caches that is not hidden.
    pub line_part: f64,
    /// How many times as long rows take as those of a tile that stays where it is.
    pub rows: f64,
    /// Seconds of a run beyond that.
    pub run_s: f64,
    /// Root of the mean square of the relative errors, fast tiles first: each weighs as its speed.
    pub relative_error: f64,
}

impl TileCosts {
    /// From rows of a tile that stays where it is to those of tiles that move on.
    pub fn of_rows(&self, body: &mut BodyCosts) {
        body.call_s *= self.rows;
        body.point_s *= self.rows;
        for run in &mut body.runs {
            run.run_s = self.rows * run.run_s + self.run_s;
            run.block_s *= self.rows;
        }
    }
}

/// Non-negative least squares of the relative errors, each times `least seconds / seconds`, since it is fast tiles that are to
/// be told from each other. A part of lines above 1 is 1. `None` without tiles.
pub fn tile_costs(tiles: &[Transfer]) -> Option<TileCosts> {
    let fit = |line_part: Option<f64>| {
        let least = tiles.iter().map(|tile| tile.seconds).reduce(f64::min)?;
        let weight = |tile: &Transfer| least / tile.seconds / tile.seconds;
        // Nanoseconds keep the numbers near 1.
        let of = |tile: &Transfer| {
            let between = if line_part.is_some() { 0.0 } else { tile.between_s };
            [tile.rows_s, 1e-9 * tile.lines, between, 1e-9 * tile.runs].map(|cost| weight(tile) * cost)
        };
        let known = |tile: &Transfer| tile.again_s + line_part.map_or(0.0, |part| part * tile.between_s);
        let counts: Vec<Vec<f64>> = tiles.iter().map(|tile| of(tile).to_vec()).collect();
        let rest: Vec<f64> = tiles.iter().map(|tile| weight(tile) * (tile.seconds - known(tile))).collect();
        let found = non_negative(&counts, &rest);
        let errors = counts.iter().zip(&rest).map(|(row, rest)| {
            (row.iter().zip(&found).map(|(count, cost)| count * cost).sum::<f64>() - rest).powi(2)
        });
        Some(TileCosts {
            rows: found[0],
            memory_s: 1e-9 * found[1],
            line_part: line_part.unwrap_or(found[2]),
            run_s: 1e-9 * found[3],
            relative_error: (errors.sum::<f64>() / tiles.len() as f64).sqrt(),
        })
    };
    match fit(None)? {
        costs if costs.line_part > 1.0 => fit(Some(1.0)),
        costs => Some(costs),
    }
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
    let alone = time.rows_alone();
    let (line, longer) = (alone.with_memory_line(1.0), alone.with_longer_runs(1.0));
    let again = time.with_memory_line(0.0).with_line_part(0.0);
    let between = again.with_line_part(1.0);
    let mut counted = Vec::new();
    let mut natives = Vec::new();
    let strategy = strategy::preferred();
    let tiles = tiles(program, cone);
    let plan =
        |tile| strategy::plan(strategy, program, cone, tile).map_err(|error| internal(error.to_string()));
    let plans = tiles.iter().map(plan).collect::<Result<Vec<_>>>()?;
    for (tile, tiled) in tiles.iter().zip(tiled::load_all(&plans, false)?) {
        let native = tiled.native;
        native.library().set_threads(threads);
        native.run(program, &parameters, &mut data, STEPS)?;
        natives.push(native);
        let seconds = |model: &CpuTime| {
            model.predict(strategy, tile).map(|prediction| prediction.seconds).map_err(internal)
        };
        let (rows_s, again_s) = (seconds(&alone)?, seconds(&again)?);
        counted.push(Transfer {
            seconds: 0.0,
            rows_s,
            lines: seconds(&line)? - rows_s,
            again_s: again_s - rows_s,
            between_s: seconds(&between)? - again_s,
            runs: seconds(&longer)? - rows_s,
        });
    }
    let measured = settled(natives.len(), (wanted, 3 * wanted), |number| {
        interrupt::check()?;
        let start = Instant::now();
        natives[number].run(program, &parameters, &mut data, STEPS)?;
        Ok::<_, ExecutionError>(start.elapsed().as_secs_f64())
    })?;
    let tile =
        |(seconds, counted): (&Vec<f64>, &Transfer)| Some(Transfer { seconds: median(seconds)?, ..*counted });
    Ok(Transfers {
        tiles: measured.seconds.iter().zip(&counted).filter_map(tile).collect(),
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

/// Low and high tiles, which move many and few lines, with short and long rows and with windows on both sides of the caches' sizes: what
/// one thing costs would otherwise not be told from what another one does.
fn tiles(program: &Program, cone: &Cone) -> Vec<TileSizes> {
    let space = strategy::preferred().space(program, cone);
    let sizes: &[(i64, i64, [i64; 2])] = match program.dimension() {
        1 => &[
            (4, 1024, [0, 0]),
            (8, 256, [0, 0]),
            (16, 1024, [0, 0]),
            (16, 2048, [0, 0]),
            (24, 2048, [0, 0]),
            (32, 4096, [0, 0]),
            (64, 8192, [0, 0]),
        ],
        2 => &[
            (2, 16, [512, 0]),
            (4, 24, [1024, 0]),
            (8, 16, [0, 0]),
            (8, 40, [1024, 0]),
            (10, 18, [176, 0]),
            (16, 8, [80, 0]),
            (16, 200, [0, 0]),
            (16, 800, [0, 0]),
            (20, 48, [432, 0]),
            (24, 24, [1024, 0]),
            (24, 64, [3072, 0]),
        ],
        _ => &[
            (2, 16, [8, 0]),
            (4, 12, [32, 0]),
            (4, 15, [6, 128]),
            (6, 24, [16, 0]),
            (8, 12, [4, 0]),
            (8, 4, [48, 96]),
            (8, 24, [0, 0]),
            (12, 12, [6, 0]),
            (12, 12, [16, 0]),
            (12, 12, [64, 0]),
            (12, 22, [5, 192]),
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

    /// A tile that takes what these costs say, in nanoseconds.
    fn tile(counts: [f64; 4], (rows, memory, part, run): (f64, f64, f64, f64)) -> Transfer {
        let [own, lines, between, runs] = counts;
        let (rows_s, between_s) = (1e-9 * own, 1e-9 * between);
        let again_s = 20e-9;
        let seconds = rows * rows_s + again_s + part * between_s + 1e-9 * (memory * lines + run * runs);
        Transfer { seconds, rows_s, lines, again_s, between_s, runs }
    }

    /// Low, high, short, wide tiles: rows, lines, lines between caches, runs.
    const TILES: [[f64; 4]; 7] = [
        [500.0, 190.0, 10.0, 8.0],
        [500.0, 90.0, 0.0, 5.0],
        [510.0, 50.0, 90.0, 3.0],
        [540.0, 45.0, 0.0, 16.0],
        [600.0, 25.0, 0.0, 30.0],
        [490.0, 20.0, 160.0, 2.0],
        [500.0, 15.0, 300.0, 1.0],
    ];

    #[test]
    fn costs_are_found_again() {
        for costs in [(1.15, 1.2, 0.3, 7.0), (0.6, 0.4, 1.0, 0.0), (1.0, 0.0, 0.0, 20.0)] {
            let found = tile_costs(&TILES.map(|counts| tile(counts, costs))).unwrap();
            assert_relative_eq!(found.rows, costs.0, epsilon = 1e-3);
            assert_relative_eq!(1e9 * found.memory_s, costs.1, epsilon = 1e-2);
            assert_relative_eq!(found.line_part, costs.2, epsilon = 1e-2);
            assert_relative_eq!(1e9 * found.run_s, costs.3, epsilon = 1e-1);
            assert!(found.relative_error < 1e-3, "{found:?}");
        }
        assert!(tile_costs(&[]).is_none());
    }

    /// Lines between caches cannot take longer than they do by themselves.
    #[test]
    fn a_part_is_at_most_the_whole() {
        let found = tile_costs(&TILES.map(|counts| tile(counts, (1.1, 1.2, 1.5, 7.0)))).unwrap();
        assert_eq!(found.line_part, 1.0);
        assert!(found.rows > 1.0 && found.memory_s > 0.0, "{found:?}");
    }

    /// A slow tile that something else disturbed hardly moves what fast ones say.
    #[test]
    fn slow_tiles_weigh_little() {
        let mut tiles = TILES.map(|counts| tile(counts, (1.1, 1.2, 0.3, 7.0)));
        tiles[4].seconds *= 3.0;
        let found = tile_costs(&tiles).unwrap();
        let predicted = |tile: &Transfer| {
            let lines = found.memory_s * tile.lines + found.line_part * tile.between_s + tile.again_s;
            found.rows * tile.rows_s + lines + found.run_s * tile.runs
        };
        for tile in tiles.iter().enumerate().filter(|(number, _)| *number != 4).map(|(_, tile)| tile) {
            assert_relative_eq!(predicted(tile), tile.seconds, max_relative = 0.12);
        }
    }
}
