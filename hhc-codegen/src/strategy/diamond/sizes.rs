//! What the strategy is called, and its tile sizes.

use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::program::Program;

/// Its name.
pub(super) const NAME: &str = "diamond";
/// Names of the tile sizes: half the height, and the lengths of pieces along the other dimensions.
pub(super) const SIZES: [&str; 3] = ["st", "s1", "s2"];

/// The sizes that it takes.
pub(super) fn space(program: &Program) -> TileSpace {
    let statements = program.statements.len() as i64;
    let height = TileSize {
        name: SIZES[0],
        meaning: "half the height of a diamond, in logical rows; its width follows from the slopes",
        along: Along::Time { rows_per_step: statements },
        least: 1,
        most: LARGEST_SIZE,
        step: statements,
        whole: false,
    };
    let length = |d: usize| TileSize {
        name: SIZES[d],
        meaning: "the length of a piece of a diamond along this dimension, in points",
        along: Along::Space(d),
        least: 1,
        most: LARGEST_SIZE,
        step: 1,
        whole: true,
    };
    TileSpace {
        sizes: [height].into_iter().chain((1..program.dimension()).map(length)).collect(),
        optional: Vec::new(),
        constraints: Vec::new(),
        program: program.name.clone(),
    }
}
