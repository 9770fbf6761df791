//! The tile sizes: points of a lane, steps of a warp, warps of a block, and rows of a stream.

use crate::TileSizes;
use crate::geometry::WARP;
use crate::strategy::bands;
use crate::strategy::lanes::{Demand, ceil_div, chunk};
use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::program::Program;
use std::collections::BTreeSet;

/// Their names.
pub(super) const NAMES: [&str; 4] = ["rpl", "steps", "warps", "rows"];

/// Points of a lane at most: twice as many would not fit in registers.
const MOST_POINTS: i64 = 64;
/// Warps of a block at most.
const MOST_WARPS: i64 = 32;
/// Steps of a warp at most: their text is unrolled.
const MOST_STEPS: i64 = 16;

/// Rows of a stream where nobody says how large the grid is; with 1024 the compiler spills in heat2d on sm_80.
const ROWS: i64 = 1000;

/// The tile sizes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// Neighbouring points of a lane.
    pub(super) points: i64,
    /// Steps of a warp.
    pub(super) steps: i64,
    /// Warps of a block.
    pub(super) warps: i64,
    /// Rows that a block leaves.
    pub(super) rows: i64,
}

impl Sizes {
    /// Steps of a band.
    pub(super) fn depth(&self) -> i64 {
        self.steps * self.warps
    }

    /// Columns of a strip, with those that it shares with its neighbours.
    pub(super) fn columns(&self) -> i64 {
        WARP * self.points
    }
}

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

/// Whether a strip has points of its own.
pub(super) fn fit(program: &Program, tile: &TileSizes) -> Result<(), (&'static str, String)> {
    let sizes = of(tile);
    let (low, high) = bands::reach_of_all(program)[1];
    let ghosts = sizes.depth() * (low + high);
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

/// Sizes that neither spill registers nor compute many points twice, the fastest of those that were tried on an H100.
pub(super) fn default(program: &Program) -> TileSizes {
    let Demand { double, wide, diagonal, others, decides, .. } = Demand::of(program);
    let (points, steps, warps) = match (decides, double, wide) {
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
        (false, true, 0..=2) if diagonal => (8, 2, 4),
        (false, true, 0..=2) => (8, 3, 4),
        (false, true, 3..=4) => (6, 2, 4),
        (false, true, _) => (4, 1, 8),
    };
    let (low, high) = bands::reach_of_all(program)[1];
    // As many warps as leave a strip three quarters of its columns.
    let most = points * WARP / (4 * steps * (low + high)).max(1);
    let sizes = [points, steps, most.clamp(1, warps), ROWS];
    TileSizes::new(NAMES.into_iter().zip(sizes))
}

/// Registers of a multiprocessor.
const REGISTERS: i64 = 65_536;

/// Blocks that they have room for.
fn resident(program: &Program, sizes: Sizes) -> i64 {
    (REGISTERS / (sizes.warps * WARP * registers(program, sizes))).max(1)
}

/// Registers that a thread is given: those of the rows, and others.
pub(super) fn registers(program: &Program, sizes: Sizes) -> i64 {
    const OTHERS: i64 = 60;
    const MOST: i64 = 255;
    let (down, up) = bands::reach_of_all(program)[0];
    let words = program.field(program.statements[0].target).element.bytes() as i64 / 4;
    // Of the level before a warp's first one, the rows until the first step has read them.
    let before = if bands::levels_of_bands(program) == Ok(2) { up + 1 } else { 0 };
    let rows = (sizes.steps * (down + up + 1) + before) * sizes.points * words;
    let weights = rows_of_coefficients(program) as i64 * sizes.points * words;
    (rows + OTHERS.max(rows / 4) + weights).min(MOST)
}

/// Rows of coefficients that a step reads.
pub(super) fn rows_of_coefficients(program: &Program) -> usize {
    let statement = &program.statements[0];
    let others = statement.reads.iter().filter(|read| read.field != statement.target);
    others.map(|read| (read.field.0, read.offset[0])).collect::<BTreeSet<_>>().len()
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
    let reach = bands::reach_of_all(program);
    let (low, high) = reach[1];
    let own = (sizes.columns() - sizes.depth() * (low + high)).max(1);
    let strips = ceil_div(size[1], own).max(1);
    let more = sizes.depth() * (reach[0].0 + reach[0].1) + 2 * sizes.warps + 1;
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
