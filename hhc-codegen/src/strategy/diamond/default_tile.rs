//! Default tile sizes. In two dimensions a diamond fills most of a common L2 cache at most.

use super::shape::Shape;
use super::sizes::SIZES;
use crate::TileSizes;
use polyhedral::cone::Cone;
use polyhedral::program::Program;

/// Bytes that the pieces of a default diamond may touch in two dimensions.
const TILE_BYTES: i64 = 900 << 10;

/// Half the height in steps, and the lengths of pieces along the other dimensions, the largest first.
fn candidates(dimension: usize) -> &'static [&'static [i64]] {
    match dimension {
        1 => &[&[512]],
        2 => &[&[24, 512], &[16, 512], &[16, 256], &[8, 256], &[8, 128], &[4, 128], &[4, 64]],
        _ => &[&[8, 16, 0]],
    }
}

/// The first candidate that fits, or the last one.
pub(super) fn default_tile(program: &Program, cone: &Cone) -> TileSizes {
    let rows = |(at, &value): (usize, &i64)| {
        if at == 0 { value * program.statements.len() as i64 } else { value }
    };
    let tile = |sizes: &[i64]| TileSizes::new(SIZES.into_iter().zip(sizes.iter().enumerate().map(rows)));
    let all = candidates(program.dimension());
    let mut tiles = all.iter().map(|sizes| tile(sizes));
    let fits = |tile: &TileSizes| {
        let bytes = Shape::new(program, cone, tile).map(|shape| shape.points_touched());
        bytes.is_ok_and(|points| points.saturating_mul(program.bytes_of_a_point() as i64) <= TILE_BYTES)
    };
    match program.dimension() {
        2 => tiles.find(fits).unwrap_or_else(|| tile(all[all.len() - 1])),
        _ => tile(all[0]),
    }
}
