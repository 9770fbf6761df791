//! The tile sizes.

use super::lines;
use super::tiles::SIZES;
use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use polyhedral::program::Program;

/// The sizes that it takes.
pub(super) fn space(program: &Program) -> TileSpace {
    let (statements, dimension) = (program.statements.len() as i64, program.dimension());
    let in_order = program.sweeps_in_order().next().is_some();
    let time = TileSize {
        name: SIZES[0],
        meaning: "the logical rows of time of a tile",
        along: Along::Time { rows_per_step: statements },
        least: 1,
        most: LARGEST_SIZE,
        step: statements,
        whole: false,
    };
    let size = |d: usize| TileSize {
        name: SIZES[d + 1],
        meaning: "the points of a tile along this dimension",
        along: Along::Space(d),
        least: 1,
        most: LARGEST_SIZE,
        step: if in_order && d + 2 == dimension { lines::at_once(program) } else { 1 },
        whole: d > 0,
    };
    TileSpace {
        sizes: [time].into_iter().chain((0..dimension).map(size)).collect(),
        optional: Vec::new(),
        constraints: Vec::new(),
        program: program.name.clone(),
    }
}
