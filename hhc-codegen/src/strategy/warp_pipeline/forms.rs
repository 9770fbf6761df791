//! Counts of a block, in closed form, and the tiles that a search looks at.
//!
//! In the level after `n` of the `D` steps of a band, the block in the middle of a launch computes the box
//!
//! ```text
//! rows     own rows, (D - n)*down more before them and (D - n)*up behind      as far as the domain has them
//! columns  own columns, (D - n)*left and (D - n)*right more
//! ```
//!
//! of which the own rows and columns are its own and the others are computed by its neighbours, too. It loads the box of `n = 0`, as
//! far as the grid has it, of the field and of each coefficient, takes those of `n = 0, steps, 2*steps, ..` out of links and puts those of `n = steps, 2*steps, ..` into
//! them, and stores that of `n = D`. Where steps read two levels, all of that but for coefficients is so of the level before, too.
//!
//! Sizes other than rows are few, and rows matter by how many blocks there are and how long the longest of them is: of all rows that
//! cut the grid into the same number of chunks the least ones are best. So tiles are listed, and all of them are looked at.

use super::sizes;
use super::sizes::Sizes;
use super::strips::{self, AHEAD, Team};
use super::work;
use crate::TileSizes;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::work::TileWork;
use crate::geometry::{ADDRESS_REGISTERS, WARP, operand_registers, register_bound, storage_bytes};
use crate::strategy::bands;
use crate::strategy::streams::{Closed, chunks, common, of_launches, points};

/// Values of the sizes that a search looks at.
const POINTS: [i64; 7] = [2, 4, 6, 8, 10, 12, 16];
const STEPS: [i64; 5] = [1, 2, 3, 4, 6];
const WARPS: [i64; 4] = [1, 2, 4, 8];

/// The tile of fewest registers and threads.
pub(super) fn smallest(problem: &Problem) -> Option<TileSizes> {
    let with = |points: i64| TileSizes::new(sizes::NAMES.into_iter().zip([points, 1, 1, 1]));
    let fits = |tile: &TileSizes| sizes::fit(&problem.program, tile).is_ok();
    (1..=POINTS[POINTS.len() - 1]).map(with).find(fits)
}

/// The tiles that a search looks at.
pub(super) fn tiles(problem: &Problem) -> Vec<TileSizes> {
    let (low, end) = problem.program.domain(0, &problem.size)[0];
    let mut tiles = Vec::new();
    for points in POINTS {
        for steps in STEPS.into_iter().filter(|&steps| steps <= problem.steps.max(1)) {
            for warps in WARPS.into_iter().filter(|warps| warps * steps <= problem.steps.max(1)) {
                let with =
                    |rows: i64| TileSizes::new(sizes::NAMES.into_iter().zip([points, steps, warps, rows]));
                if sizes::fit(&problem.program, &with(1)).is_ok() {
                    tiles.extend(chunks(end - low).map(with));
                }
            }
        }
    }
    tiles
}

/// The counts of each kernel that is launched, and what its warps execute.
pub(super) fn counts(
    problem: &Problem,
    on: &Multiprocessor,
    tile: &TileSizes,
) -> Result<Vec<(TileCounts, TileWork)>, String> {
    let program = &problem.program;
    let whole = sizes::of(tile);
    let bands = strips::bands(program, whole);
    let lengths = bands.lengths(problem.steps);
    let reach = bands::reach_of_all(program);
    let [rows, columns] = program.domain(0, &problem.size)[..] else {
        return Err("it streams in two dimensions".to_owned());
    };
    if rows.1 <= rows.0 || columns.1 <= columns.0 {
        return Err("there is no point to compute".to_owned());
    }
    let around = columns.1 - columns.0 + reach[1].0 + reach[1].1;
    let narrow = around < whole.columns();
    let all = lengths.long + lengths.single;
    let launched: &[(Sizes, i64, i64)] = match (narrow, whole.depth()) {
        (true, _) | (_, 1) => &[(whole, all, lengths.first)],
        _ => &[(whole, lengths.long, lengths.first), (sizes::short(whole), lengths.single, 1)],
    };
    let found =
        (launched.iter().filter(|(_, launches, _)| *launches > 0)).map(|&(sizes, wavefronts, length)| {
            let field = program.statements[0].target;
            let team = Team { program, bands, sizes, reach: reach.clone(), field, narrow };
            let block = Block { problem, on, team: &team };
            let own = TileCounts { wavefronts, ..block.counts(length) };
            let work = if narrow { None } else { work::of_kernel(problem, sizes, &own) };
            (own, work)
        });
    Ok(of_launches(problem, on, found.collect()))
}

/// The block in the middle of a launch.
struct Block<'a> {
    problem: &'a Problem,
    on: &'a Multiprocessor,
    team: &'a Team<'a>,
}

impl Block<'_> {
    /// The counts in a band of so many steps.
    fn counts(&self, length: i64) -> TileCounts {
        let Block { problem, on, team } = *self;
        let (program, sizes) = (team.program, team.sizes);
        let (down, up) = team.reach[0];
        let (left, right) = team.reach[1];
        let depth = sizes.depth();
        let domain: Vec<Closed> =
            program.domain(0, &problem.size).into_iter().map(|(low, end)| (low, end - 1)).collect();
        let grid: Vec<Closed> = problem.size.iter().map(|&extent| (0, extent - 1)).collect();
        let around = (domain[1].0 - left, domain[1].1 + right);
        let chunks = (domain[0].1 - domain[0].0) / sizes.rows + 1;
        let strips = if team.narrow { 1 } else { (domain[1].1 - around.0) / team.width(1) + 1 };
        let own_row = domain[0].0 + (chunks - 1) / 2 * sizes.rows;
        let own_column = around.0 + (strips - 1) / 2 * team.width(1);
        let rows =
            |stage: i64| (own_row - (depth - stage) * down, own_row + sizes.rows - 1 + (depth - stage) * up);
        let columns = |stage: i64| match team.narrow {
            true => (around.0, around.0 + sizes.columns() - 1),
            false => (
                (own_column - (depth - stage) * left).max(around.0),
                (own_column + team.width(1) - 1 + (depth - stage) * right).min(around.1),
            ),
        };
        // Positions of the stream; a row comes so many of them after its number.
        let positions = (rows(0).0 - (1 + AHEAD), rows(depth).1.min(domain[0].1) + team.stored_after());
        let at = |stage: i64, within: Closed, after: i64| {
            common(common(rows(stage), within), (positions.0 - after, positions.1 - after))
        };
        let box_of = |stage: i64, within: &[Closed], after: i64| {
            points(at(stage, within[0], after)) * points(common(columns(stage), within[1]))
        };
        let reads = program.statements[0].reads.len() as i64;
        let storages = team.storages();
        let threads = sizes.warps * WARP;
        let own_registers =
            storages[0].cells_of_a_lane() * (program.field(team.field).element.bytes() as i64 / 4);
        let registers = operand_registers(program, 0, 1) as i64 + ADDRESS_REGISTERS + own_registers;
        let mut counts = TileCounts {
            tiles_per_wavefront: chunks * strips,
            sub_tiles: 1,
            tile_bytes: storage_bytes(program, &storages),
            threads,
            registers: registers.min(register_bound(threads, on.registers_per_sm, on.registers_per_thread)),
            word_bytes: problem.element().bytes() as i64,
            ..TileCounts::default()
        };
        let mut lanes = 0;
        for stage in 1..=depth.min(length) {
            let (number, width) = (points(common(rows(stage), domain[0])), columns(stage));
            let width = common(width, domain[1]);
            if number == 0 || points(width) == 0 {
                continue;
            }
            let computed = number * points(width);
            let own = points(common(rows(depth), common(rows(stage), domain[0])))
                * points(common(columns(depth), width));
            counts.rows += number;
            counts.iterations += own;
            counts.copies += computed - own;
            lanes += number * ((points(width) + WARP - 1) / WARP) * WARP;
            counts.fast_words += computed * (reads + 1);
        }
        counts.lane_rounds = (lanes + on.lanes - 1) / on.lanes;
        let levels = team.bands.levels;
        counts.words_in += (levels + team.coefficients().len() as i64) * box_of(0, &grid, -(1 + AHEAD));
        let own = points(common(rows(depth), domain[0])) * points(common(columns(depth), domain[1]));
        counts.words_out = levels * own;
        for warp in 0..sizes.warps {
            let behind = warp * team.skew();
            counts.fast_words += levels * box_of(warp * sizes.steps, &grid, behind - 1);
            counts.fast_words += levels * box_of((warp + 1) * sizes.steps, &grid, behind + up * sizes.steps);
        }
        counts
    }
}
