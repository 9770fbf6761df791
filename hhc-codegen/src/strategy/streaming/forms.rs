//! Counts of a block, in closed form, and the tiles that a search looks at.
//!
//! In the level after `n` of the `D` steps of a band, the block in the middle of a launch computes a box: its own points, and
//! `(D - n)*reach` more at each side, as far as the domain has them. Each warp has the rows of the box that lie in its slice, and gives
//! and takes those at the edges of slices, of the level before. A warp loads its slice of the box of `n = 0`, with as many more
//! columns as let accesses be whole, as far as the grid has it, and stores that of `n = D`.
//!
//! All tiles of a list are looked at: see the forms of `warp-pipeline`.

use super::blocks::{AHEAD, Stream};
use super::sizes;
use super::work;
use crate::TileSizes;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::work::TileWork;
use crate::geometry::{ADDRESS_REGISTERS, WARP, operand_registers, register_bound, storage_bytes};
use crate::strategy::bands::{self, Bands};
use crate::strategy::streams::{Closed, chunks, common, of_launches, points, words_of_coefficients};

/// Values of the sizes that a search looks at.
const POINTS: [i64; 3] = [1, 2, 4];
const ROWS: [i64; 6] = [1, 2, 3, 4, 6, 8];
const STEPS: [i64; 4] = [1, 2, 3, 4];
const WARPS: [i64; 3] = [4, 8, 16];

/// The tile of fewest registers and threads.
pub(super) fn smallest(problem: &Problem) -> Option<TileSizes> {
    let fits = |tile: &TileSizes| sizes::fit(&problem.program, tile).is_ok();
    let with = |rows: i64| TileSizes::new(sizes::NAMES.into_iter().zip([1, rows, 1, WARPS[0], 1]));
    (1..=ROWS[ROWS.len() - 1]).map(with).find(fits)
}

/// The tiles that a search looks at.
pub(super) fn tiles(problem: &Problem) -> Vec<TileSizes> {
    let (low, end) = problem.program.domain(0, &problem.size)[0];
    let mut tiles = Vec::new();
    for (points, rows) in POINTS.into_iter().flat_map(|points| ROWS.map(|rows| (points, rows))) {
        for steps in STEPS.into_iter().filter(|&steps| steps <= problem.steps.max(1)) {
            for warps in WARPS {
                let with = |planes: i64| {
                    TileSizes::new(sizes::NAMES.into_iter().zip([points, rows, steps, warps, planes]))
                };
                if sizes::fit(&problem.program, &with(1)).is_ok() {
                    tiles.extend(chunks(end - low).map(with));
                }
            }
        }
    }
    tiles
}

/// The counts of the kernel that is launched, and what its warps execute.
pub(super) fn counts(
    problem: &Problem,
    on: &Multiprocessor,
    tile: &TileSizes,
) -> Result<Vec<(TileCounts, TileWork)>, String> {
    let program = &problem.program;
    let whole = sizes::of(tile);
    let bands = Bands::of_one_level(whole.steps);
    let lengths = bands.lengths(problem.steps);
    let domain = program.domain(0, &problem.size);
    if domain.iter().any(|(low, end)| end <= low) {
        return Err("there is no point to compute".to_owned());
    }
    let (left, right) = bands::reach(program)[2];
    let narrow = domain[2].1 - domain[2].0 + left + right < whole.columns();
    let sizes = if narrow { sizes::narrow(program, whole) } else { whole };
    let stream = Stream::new(program, bands, sizes, narrow);
    let own = Block { problem, on, stream: &stream }.counts(lengths.first);
    let own = TileCounts { wavefronts: lengths.long + lengths.single, ..own };
    let work = if narrow { None } else { work::of_kernel(problem, &stream, &own) };
    let launched = if own.wavefronts > 0 { vec![(own, work)] } else { Vec::new() };
    Ok(of_launches(problem, on, launched))
}

/// Points of some rows of a slice: stage, warp, the first row, how many, within what, and positions after their planes.
type OfRows<'a> = dyn Fn(i64, i64, i64, i64, &[Closed], i64) -> i64 + 'a;

/// The block in the middle of a launch.
struct Block<'a> {
    problem: &'a Problem,
    on: &'a Multiprocessor,
    stream: &'a Stream<'a>,
}

impl Block<'_> {
    /// The counts in a band of so many steps.
    fn counts(&self, length: i64) -> TileCounts {
        let Block { problem, on, stream } = *self;
        let (program, sizes) = (stream.program, stream.sizes);
        let (depth, lag) = (sizes.steps, stream.lag());
        let domain: Vec<Closed> =
            program.domain(0, &problem.size).into_iter().map(|(low, end)| (low, end - 1)).collect();
        let grid: Vec<Closed> = problem.size.iter().map(|&extent| (0, extent - 1)).collect();
        let around = |d: usize| (domain[d].0 - stream.reach[d].0, domain[d].1 + stream.reach[d].1);
        let origin = |d: usize| domain[d].0 - stream.shift(d);
        let alone = |d: usize| stream.narrow && d == 2;
        let blocks = |d: usize| if alone(d) { 1 } else { (domain[d].1 - origin(d)) / stream.width(d) + 1 };
        let own = |d: usize| origin(d) + (blocks(d) - 1) / 2 * stream.width(d);
        let clipped = |d: usize, before: i64, behind: i64| {
            if alone(d) {
                return (around(d).0, around(d).0 + sizes.columns() - 1);
            }
            let needed = (own(d) - before, own(d) + stream.width(d) - 1 + behind);
            if d == 0 { needed } else { common(needed, around(d)) }
        };
        let needed = |stage: i64, d: usize| {
            let (low, high) = stream.reach[d];
            clipped(d, (depth - stage) * low, (depth - stage) * high)
        };
        let loaded = if stream.narrow {
            clipped(2, stream.ghosts(2).0, stream.ghosts(2).1)
        } else {
            let (low, high) = around(2);
            let first = (own(2) - stream.ghosts(2).0).max(low).min(high + 1 - sizes.columns());
            (first, first + sizes.columns() - 1)
        };
        // Positions of the stream; a plane comes so many of them after its number.
        let positions = (needed(0, 0).0 - AHEAD, needed(depth, 0).1.min(domain[0].1) + lag * depth);
        let planes = |stage: i64, within: Closed, after: i64| {
            points(common(common(needed(stage, 0), within), (positions.0 - after, positions.1 - after)))
        };
        let first_row = |warp: i64| own(1) - stream.ghosts(1).0 + warp * sizes.rows;
        // Points of rows from one of a slice on.
        let of_rows = |stage: i64, warp: i64, from: i64, count: i64, within: &[Closed], after: i64| {
            let first = first_row(warp) + from;
            let rows = common(common(needed(stage, 1), (first, first + count - 1)), within[1]);
            planes(stage, within[0], after) * points(rows) * points(common(needed(stage, 2), within[2]))
        };
        let reads = program.statements[0].reads.len() as i64;
        let storages = stream.storages();
        let threads = sizes.warps * WARP;
        let own_registers =
            storages[0].cells_of_a_lane() * (program.field(stream.field).element.bytes() as i64 / 4);
        let registers = operand_registers(program, 0, 1) as i64 + ADDRESS_REGISTERS + own_registers;
        let mut counts = TileCounts {
            tiles_per_wavefront: blocks(0) * blocks(1) * blocks(2),
            sub_tiles: 1,
            tile_bytes: storage_bytes(program, &storages),
            threads,
            registers: registers.min(register_bound(threads, on.registers_per_sm, on.registers_per_thread)),
            word_bytes: problem.element().bytes() as i64,
            ..TileCounts::default()
        };
        let mut lanes = 0;
        for (warp, stage) in (0..sizes.warps).flat_map(|warp| (1..=depth).map(move |stage| (warp, stage))) {
            let slice = (first_row(warp), first_row(warp) + sizes.rows - 1);
            let rows = common(common(needed(stage, 1), slice), domain[1]);
            let columns = common(needed(stage, 2), domain[2]);
            let number = planes(stage, domain[0], lag * stage);
            let plane = points(rows) * points(columns);
            if stage <= length && number * plane > 0 {
                let own_plane =
                    points(common(needed(depth, 1), rows)) * points(common(needed(depth, 2), columns));
                let own = points(common(needed(depth, 0), common(needed(stage, 0), domain[0]))) * own_plane;
                counts.rows += number;
                counts.iterations += own;
                counts.copies += number * plane - own;
                lanes += number * ((plane + WARP - 1) / WARP) * WARP;
                counts.fast_words += number * plane * (reads + 1);
                let block = [1, points(rows), points(columns)];
                counts.words_in += number * words_of_coefficients(program, 0, block);
            }
            counts.fast_words += self.shared(&of_rows, &grid, (warp, stage - 1));
        }
        counts.lane_rounds = (lanes + on.lanes - 1) / on.lanes;
        for warp in 0..sizes.warps {
            let slice = (first_row(warp), first_row(warp) + sizes.rows - 1);
            let rows = points(common(common(needed(0, 1), slice), grid[1]));
            let plane = rows * points(common(loaded, grid[2]));
            counts.fast_words += planes(0, grid[0], 0) * plane;
            counts.words_in += planes(0, grid[0], -AHEAD) * plane;
            counts.words_out += of_rows(depth, warp, 0, sizes.rows, &domain, lag * depth);
        }
        counts
    }

    /// Words that a warp gives to its neighbours and takes from them before a step, of the level after so many.
    fn shared(&self, of_rows: &OfRows<'_>, grid: &[Closed], (warp, stage): (i64, i64)) -> i64 {
        let stream = self.stream;
        let Some((_, greatest)) = stream.across else { return 0 };
        let rows = stream.sizes.rows;
        let (before, behind) = stream.reach[1];
        let (given, taken) = (stage * stream.lag(), (stage + 1) * stream.lag() - greatest);
        let mut words = of_rows(stage, warp, rows, behind, grid, taken);
        words += of_rows(stage, warp, -before, before, grid, taken);
        words += of_rows(stage, warp, 0, behind, grid, given);
        words += of_rows(stage, warp, rows - before, before, grid, given);
        words
    }
}
