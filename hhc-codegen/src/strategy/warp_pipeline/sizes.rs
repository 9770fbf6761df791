//! The tile sizes: points of a lane, steps of a warp, warps of a block, and rows of a stream.

use super::team::Sizes;
use crate::TileSizes;
use crate::geometry::WARP;
use crate::strategy::bands;
use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::program::{ElementType, Program};

/// Their names.
pub(super) const NAMES: [&str; 4] = ["rpl", "steps", "warps", "rows"];

/// Points of a lane at most: twice as many would not fit in registers.
const MOST_POINTS: i64 = 64;
/// Warps of a block at most.
const MOST_WARPS: i64 = 32;
/// Steps of a warp at most: their text is unrolled.
const MOST_STEPS: i64 = 16;

/// Rows of a stream where nobody says how large the grid is.
const ROWS: i64 = 1024;

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
    let (low, high) = bands::reach(program)[1];
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

/// Sizes that neither spill registers nor compute many points twice.
pub(super) fn default(program: &Program) -> TileSizes {
    let statement = &program.statements[0];
    let double = program.field(statement.target).element == ElementType::F64;
    let reach = bands::reach(program);
    let wide = reach.iter().map(|(low, high)| low + high).max().unwrap_or(0);
    let diagonal = statement.reads.iter().any(|read| read.offset.iter().filter(|&&at| at != 0).count() > 1);
    let (points, steps) = match (double, wide, diagonal) {
        (false, 0..=2, false) => (16, 4),
        (false, 0..=2, true) => (16, 3),
        (false, 3..=4, _) => (16, 2),
        (false, ..) => (16, 1),
        (true, 0..=2, false) => (12, 2),
        (true, 0..=2, true) => (10, 2),
        (true, ..) => (10, 1),
    };
    let (low, high) = reach[1];
    let columns = points * WARP;
    // As many warps as leave a strip three quarters of its columns.
    let most = columns / (4 * steps * (low + high)).max(1);
    let sizes = [points, steps, most.clamp(1, 8), ROWS];
    TileSizes::new(NAMES.into_iter().zip(sizes))
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
