//! The tile sizes: points of a lane, steps of a warp, warps of a block, and rows of a stream.

use super::lags::around;
use super::strips::Team;
use super::tile::Sizes;
use crate::TileSizes;
use crate::geometry::{OF_ANOTHER_FIELD, WARP, storage_bytes};
use crate::strategy::lanes::{Demand, ceil_div, chunk};
use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::program::{Access, FieldRole, Program, Statement};
use std::collections::BTreeSet;

/// Their names.
pub(super) const NAMES: [&str; 4] = ["rpl", "steps", "warps", "rows"];

/// Points of a lane at most: twice as many would not fit in registers.
const MOST_POINTS: i64 = 64;
/// Warps of a block at most.
const MOST_WARPS: i64 = 32;
/// Warps of one step each at most, where one of several steps needs more registers than there are, and bytes of shared memory for them.
const MOST_OF_ONE_STEP: i64 = 8;
const SHARED_BYTES: i64 = 95 << 10;
/// Steps of a warp at most: their text is unrolled.
const MOST_STEPS: i64 = 16;

/// Rows of a stream where nobody says how large the grid is; with 1024 the compiler spills in heat2d on sm_80.
const ROWS: i64 = 1000;

pub(super) fn space(program: &Program) -> TileSpace {
    let size = |at: usize, meaning, along, most| TileSize {
        name: NAMES[at],
        meaning,
        along,
        least: 1,
        most,
        step: 1,
        whole: false,
    };
    let time = || Along::Time { rows_per_step: 1 };
    TileSpace {
        sizes: vec![
            size(0, "the neighbouring points of a lane", Along::Space(1), MOST_POINTS),
            size(1, "the time steps of a warp", time(), MOST_STEPS),
            size(2, "the warps of a block, one behind the other in time", time(), MOST_WARPS),
            size(3, "the rows that a block streams through", Along::Space(0), LARGEST_SIZE),
        ],
        optional: Vec::new(),
        constraints: Vec::new(),
        program: program.name.clone(),
    }
}

/// The sizes of a complete tile.
pub(super) fn of(tile: &TileSizes) -> Sizes {
    let [points, steps, warps, rows] = NAMES.map(|name| tile.get(name).unwrap_or(1));
    Sizes { points, steps, warps, rows }
}

/// Columns of a strip that its neighbours have, too.
fn ghosts(program: &Program, depth: i64) -> i64 {
    let (left, right) = around(program)[1].ghosts(depth);
    left + right
}

/// Whether a strip has points of its own.
pub(super) fn fit(program: &Program, tile: &TileSizes) -> Result<(), (&'static str, String)> {
    let sizes = of(tile);
    let ghosts = ghosts(program, sizes.depth());
    if ghosts < sizes.columns() {
        return Ok(());
    }
    let least = ghosts / WARP + 1;
    Err((
        NAMES[0],
        format!(
            "a strip has {WARP} times as many columns, {ghosts} of which its neighbours have, too, after {} steps; with fewer \
             steps or warps, or {} of at least {least}, some are its own",
            sizes.depth(),
            NAMES[0]
        ),
    ))
}

/// The sizes for bands of one step, of which there are one or two at the end of a run: one warp with one step, and blocks so much
/// shorter that there are enough.
pub(super) fn short(sizes: Sizes) -> Sizes {
    Sizes { steps: 1, warps: 1, rows: sizes.rows.min((sizes.rows / 8).max(64)), ..sizes }
}

/// The sizes of the kernel that looks at each point, which needs registers for that: of several statements, warps of one step each, as many
/// as the band has steps.
pub(super) fn narrow(program: &Program, sizes: Sizes) -> Sizes {
    let of_one_step = Sizes { steps: 1, warps: sizes.depth(), ..sizes };
    let fits = || storage_bytes(program, &Team::new(program, of_one_step, true).storages()) <= SHARED_BYTES;
    let several = program.statements.len() > 1 && sizes.depth() <= MOST_OF_ONE_STEP;
    if several && fits() { of_one_step } else { sizes }
}

/// Sizes for several statements, from which the first is taken whose rows leave registers for the rest of the text.
const OF_SEVERAL: [(i64, i64, i64); 6] = [(8, 3, 4), (8, 2, 4), (4, 3, 4), (4, 2, 4), (4, 1, 8), (2, 1, 8)];
/// Registers that they may need, by the estimate.
const OF_THE_ROWS: i64 = 250;

fn of_several(program: &Program) -> (i64, i64, i64) {
    let fits = |&&(points, steps, warps): &&(i64, i64, i64)| {
        registers(program, Sizes { points, steps, warps, rows: ROWS }) <= OF_THE_ROWS
    };
    OF_SEVERAL.iter().find(fits).copied().unwrap_or((2, 1, 4))
}

/// Sizes that neither spill registers nor compute many points twice: of one statement, the fastest of those that were tried on an H100; of
/// several, those that were counted.
pub(super) fn default(program: &Program) -> TileSizes {
    let Demand { double, wide, diagonal, others, decides, .. } = Demand::of(program);
    let (points, steps, warps) = match (decides, double, wide) {
        _ if program.statements.len() > 1 => of_several(program),
        // Rows of coefficients are in registers while a step reads them.
        (false, false, 0..=2) if others => (8, 2, 4),
        (false, true, 0..=2) if others => (4, 2, 4),
        (false, ..) if others => (4, 1, 8),
        (true, false, 0..=2) if others => (4, 1, 8),
        (true, false, 0..=2) => (8, 1, 8),
        (true, true, 0..=2) => (2, 1, 8),
        (true, ..) => (4, 1, 8),
        (false, false, 0..=2) if diagonal => (8, 3, 4),
        (false, false, 0..=2) => (12, 3, 4),
        (false, false, 3..=4) => (8, 2, 4),
        (false, false, _) => (6, 1, 8),
        (false, true, 0..=2) => (8, 3, 4),
        (false, true, 3..=4) if diagonal => (6, 2, 4),
        (false, true, 3..=4) => (8, 2, 4),
        (false, true, _) => (4, 1, 8),
    };
    // As many warps as leave a strip three quarters of its columns.
    let of_a_warp = ghosts(program, steps) - ghosts(program, 0);
    let most = (points * WARP / 4 - ghosts(program, 0)) / of_a_warp.max(1);
    let sizes = [points, steps, most.clamp(1, warps), ROWS];
    TileSizes::new(NAMES.into_iter().zip(sizes))
}

/// Registers of a multiprocessor.
const REGISTERS: i64 = 65_536;

/// Blocks that they have room for.
fn resident(program: &Program, sizes: Sizes) -> i64 {
    (REGISTERS / (sizes.warps * WARP * registers(program, sizes))).max(1)
}

/// Registers that a thread is given at most.
const MOST: i64 = 255;

/// Whether a lane with a point of each row has no registers left.
pub(super) fn fills_registers(program: &Program) -> bool {
    of_rows(program, Sizes { points: 1, steps: 1, warps: 1, rows: 1 }) >= MOST
}

/// Registers that a thread is given: those of the rows, and others, and of each further field of a step places and operands.
pub(super) fn registers(program: &Program, sizes: Sizes) -> i64 {
    let further = program.statements.len() as i64 - 1;
    (of_rows(program, sizes) + OF_ANOTHER_FIELD * further).min(MOST)
}

/// Those of the rows, and what one field needs besides.
fn of_rows(program: &Program, sizes: Sizes) -> i64 {
    const OTHERS: i64 = 60;
    let team = Team::new(program, sizes, false);
    let words = |statement: usize| program.field(team.field(statement)).element.bytes() as i64 / 4;
    let of_all = |of: &dyn Fn(usize) -> i64| -> i64 {
        (0..team.statements()).map(|statement| of(statement) * words(statement)).sum()
    };
    // Of the level before a warp's first one, the rows until the first step has read them.
    let before = if team.two_levels() { team.up() + 1 } else { 0 };
    let rows = of_all(&|statement| (sizes.steps * team.rows_of(statement) + before) * sizes.points);
    let weights = rows_of_coefficients(program) as i64 * sizes.points * words(0);
    rows + OTHERS.max(rows / 4) + weights
}

/// Rows of coefficients that a step reads, of the statement that reads most of them.
pub(super) fn rows_of_coefficients(program: &Program) -> usize {
    let rows = |statement: &Statement| {
        let coefficient = |read: &&Access| program.field(read.field).role == FieldRole::Coefficient;
        let rows = statement.reads.iter().filter(coefficient);
        rows.map(|read| (read.field.0, read.offset[0])).collect::<BTreeSet<_>>().len()
    };
    program.statements.iter().map(rows).max().unwrap_or(0)
}

/// Rows for a grid: the least time of all rounds of blocks, with what each block computes besides its own.
///
/// ```text
/// ceil(strips*chunks / blocks at once) * (rows of a chunk + positions before its first row and behind its last one)
/// ```
pub(super) fn with_rows(
    program: &Program,
    tile: &TileSizes,
    size: &[i64],
    multiprocessors: i64,
) -> TileSizes {
    let sizes = of(tile);
    let at_once = multiprocessors * resident(program, sizes);
    let own = (sizes.columns() - ghosts(program, sizes.depth())).max(1);
    let strips = ceil_div(size[1], own).max(1);
    let (before, behind) = around(program)[0].ghosts(sizes.depth());
    let more = before + behind + 2 * sizes.warps + 1;
    tile.clone().with(NAMES[3], chunk(size[0], strips, at_once, 4, more))
}

/// A size in words.
pub(super) fn text(name: &str, value: i64) -> String {
    let plural = if value == 1 { "" } else { "s" };
    match name {
        "rpl" => format!("rpl: {value} point{plural} of a row in a lane"),
        "steps" => format!("steps: {value} time step{plural} of a warp"),
        "warps" => format!("warps: {value} warp{plural} of a block"),
        _ => format!("{name}: {value} row{plural} of a block's stream"),
    }
}
