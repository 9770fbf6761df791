//! Counts of a block, in closed form, and the tiles that a search looks at.
//!
//! In the level after `n` of the `D` steps of a band, the block in the middle of a launch computes the box
//!
//! ```text
//! rows     own rows, (D - n)*down more before them and (D - n)*up behind      as far as the domain has them
//! columns  own columns, (D - n)*left and (D - n)*right more
//! ```
//!
//! and of the field of each of several statements so many more as the others of a step need ([`lags`](super::lags)),
//!
//! of which the own rows and columns are its own and the others are computed by its neighbours, too. It loads the box of `n = 0`, as
//! far as the grid has it, of the field and of each coefficient, takes those of `n = 0, steps, 2*steps, ..` out of links and puts those of `n = steps, 2*steps, ..` into
//! them, and stores its own points of `n = D`. Where steps read two levels, all of that but for coefficients is so of the level before, too.
//!
//! Sizes other than rows are few, and rows matter by how many blocks there are and how long the longest of them is: of all rows that
//! cut the grid into the same number of chunks the least ones are best. So tiles are listed, and all of them are looked at.

use super::sizes;
use super::strips::{self, AHEAD, Needed, Team};
use super::tile::Sizes;
use super::work;
use crate::TileSizes;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::work::TileWork;
use crate::geometry::{ADDRESS_REGISTERS, WARP, operand_registers, register_bound, storage_bytes};
use crate::int_expr::{Environment, IntExpr};
use crate::plan::SIZE_NAMES;
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
    if program.dimension() != 2 {
        return Err("it streams in two dimensions".to_owned());
    }
    let is_empty =
        |statement: usize| program.domain(statement, &problem.size).iter().any(|(low, end)| end <= low);
    if (0..program.statements.len()).all(is_empty) {
        return Err("there is no point to compute".to_owned());
    }
    let around = Team::new(program, whole, false).around();
    let [first, end] = [around.0, around.1].map(|end| at(&end, problem));
    let narrow = end - first < whole.columns();
    let all = lengths.long + lengths.single;
    let launched: &[(Sizes, i64, i64)] = match (narrow, whole.depth()) {
        (true, _) => &[(sizes::narrow(program, whole), all, lengths.first)],
        (_, 1) => &[(whole, all, lengths.first)],
        _ => &[(whole, lengths.long, lengths.first), (sizes::short(whole), lengths.single, 1)],
    };
    let found =
        (launched.iter().filter(|(_, launches, _)| *launches > 0)).map(|&(sizes, wavefronts, length)| {
            let team = Team { bands, ..Team::new(program, sizes, narrow) };
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
        let depth = sizes.depth();
        let domain = |statement: usize| -> Vec<Closed> {
            let intervals = program.domain(statement, &problem.size).into_iter();
            intervals.map(|(low, end)| (low, end - 1)).collect()
        };
        let hull = [0, 1].map(|d| {
            let (low, end) = team.domain(d);
            (at(&low, problem), at(&end, problem) - 1)
        });
        let grid: Vec<Closed> = problem.size.iter().map(|&extent| (0, extent - 1)).collect();
        let (first, end) = team.around();
        let around = (at(&first, problem), at(&end, problem) - 1);
        let chunks = (hull[0].1 - hull[0].0) / sizes.rows + 1;
        let strips = if team.narrow { 1 } else { (hull[1].1 - around.0) / team.width(1) + 1 };
        let own_row = hull[0].0 + (chunks - 1) / 2 * sizes.rows;
        let own_column = around.0 + (strips - 1) / 2 * team.width(1);
        // Of whom, at which stage.
        let rows = |of: Needed, stage: i64| {
            let (before, behind) = team.more(of, depth - stage, 0);
            (own_row - before, own_row + sizes.rows - 1 + behind)
        };
        let columns = |of: Needed, stage: i64| match team.narrow {
            true => (around.0, around.0 + sizes.columns() - 1),
            false => {
                let (before, behind) = team.more(of, depth - stage, 1);
                common((own_column - before, own_column + team.width(1) - 1 + behind), around)
            }
        };
        // Positions of the stream; a row comes so many of them after its number.
        let own = rows(Needed::Own, depth);
        let positions = (
            rows(Needed::Own, 0).0 - (team.earlier() + 1 + AHEAD),
            own.1.min(hull[0].1) + team.all_stored_after(),
        );
        let box_of = |of: Needed, stage: i64, within: &[Closed], after: i64| {
            let streamed = (positions.0 - after, positions.1 - after);
            points(common(common(rows(of, stage), within[0]), streamed))
                * points(common(columns(of, stage), within[1]))
        };
        let storages = team.storages();
        let threads = sizes.warps * WARP;
        let statements = 0..team.statements();
        let words = |statement: usize| program.field(team.field(statement)).element.bytes() as i64 / 4;
        let own_registers: i64 = statements
            .clone()
            .map(|statement| storages[statement].cells_of_a_lane() * words(statement))
            .sum();
        let operands = statements.clone().map(|statement| operand_registers(program, statement, 1)).max();
        let registers = operands.unwrap_or(0) as i64 + ADDRESS_REGISTERS + own_registers;
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
        for (statement, stage) in
            statements.clone().flat_map(|own| (1..=depth.min(length)).map(move |at| (own, at)))
        {
            let (of, domain) = (Needed::Field(statement), domain(statement));
            let number = points(common(rows(of, stage), domain[0]));
            let width = common(columns(of, stage), domain[1]);
            if number == 0 || points(width) == 0 {
                continue;
            }
            let computed = number * points(width);
            let own = points(common(own, domain[0])) * points(common(columns(Needed::Own, depth), width));
            counts.rows += number;
            counts.iterations += own;
            counts.copies += computed - own;
            lanes += number * ((points(width) + WARP - 1) / WARP) * WARP;
            counts.fast_words += computed * (program.statements[statement].reads.len() as i64 + 1);
        }
        counts.lane_rounds = (lanes + on.lanes - 1) / on.lanes;
        let levels = team.bands.levels;
        counts.words_in +=
            team.coefficients().len() as i64 * box_of(Needed::Coefficient, 0, &grid, -(1 + AHEAD));
        for statement in statements {
            let (of, later) = (Needed::Field(statement), team.behind(statement));
            counts.words_in += levels * box_of(of, 0, &grid, later - (1 + AHEAD));
            counts.words_out +=
                levels * box_of(Needed::Own, depth, &domain(statement), team.stored_after(statement));
            for warp in 0..sizes.warps {
                let behind = warp * team.skew() + later;
                counts.fast_words += levels * box_of(of, warp * sizes.steps, &grid, behind - 1);
                let sent = behind + team.up() * sizes.steps;
                counts.fast_words += levels * box_of(of, (warp + 1) * sizes.steps, &grid, sent);
            }
        }
        counts
    }
}

/// The value of a bound of the grid.
fn at(end: &IntExpr, problem: &Problem) -> i64 {
    let sizes = SIZE_NAMES.into_iter().zip(problem.size.iter().copied());
    end.evaluate(&sizes.collect::<Environment>()).unwrap_or(0)
}
