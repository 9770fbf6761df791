//! The tile sizes: steps of a band, and the points of a block's own box.

use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::program::Program;

/// Name of the strategy.
pub(super) const NAME: &str = "overlapped";
/// Name of the number of time steps of a band.
pub(super) const DEPTH: &str = "depth";
/// Names of the sizes of a block's own box.
pub(super) const WIDTHS: [&str; 3] = ["w0", "w1", "w2"];
pub(super) const NAMES: [&str; 4] = [DEPTH, WIDTHS[0], WIDTHS[1], WIDTHS[2]];

/// The space of a program.
pub(super) fn space(program: &Program) -> TileSpace {
    let size = |name, meaning, along| TileSize {
        name,
        meaning,
        along,
        least: 1,
        most: LARGEST_SIZE,
        step: 1,
        whole: false,
    };
    let mut sizes = vec![size(DEPTH, "the time steps of a band", Along::Time { rows_per_step: 1 })];
    sizes.extend(
        (0..program.dimension()).map(|d| size(WIDTHS[d], "the points of a block's own box", Along::Space(d))),
    );
    TileSpace { sizes, optional: Vec::new(), constraints: Vec::new(), program: program.name.clone() }
}
