//! The tiles that a search looks at where nothing is known but the space of sizes: powers of two, thinned.

use crate::TileSizes;
use crate::counts::cores::Cores;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::strategy::tile_space::{Along, TileSize, TileSpace};

/// Tiles that are looked at, at most.
const MOST: usize = 256;
/// Time steps that a tile spans, at most.
const MOST_STEPS: i64 = 64;
/// Points along the innermost dimension, and along the others, of a tile on a multiprocessor.
const MOST_POINTS: [i64; 2] = [1024, 128];

/// For a multiprocessor: innermost sizes are multiples of a warp, and all dimensions are cut.
pub fn on_multiprocessors(
    space: &TileSpace,
    problem: &Problem,
    on: &Multiprocessor,
    most_height: Option<i64>,
) -> Vec<TileSizes> {
    let last = problem.dimension() - 1;
    let values = |size: &TileSize| match size.along {
        Along::Time { rows_per_step } => {
            let most = rows_per_step * problem.steps.clamp(1, MOST_STEPS);
            powers(size, 1, most.min(most_height.unwrap_or(i64::MAX)))
        }
        Along::Space(d) if d == last => powers(size, on.warp, problem.extent(d).min(MOST_POINTS[0])),
        Along::Space(d) => powers(size, 1, problem.extent(d).min(MOST_POINTS[1])),
    };
    tiles(space, values)
}

/// For cores: innermost sizes are whole blocks, or the whole dimension.
pub fn on_cores(space: &TileSpace, cores: &Cores) -> Vec<TileSizes> {
    let last = cores.dimension() - 1;
    let values = |size: &TileSize| match size.along {
        Along::Time { rows_per_step } => powers(size, 1, rows_per_step * cores.steps.clamp(1, MOST_STEPS)),
        Along::Space(d) => {
            let first = if d == last { cores.block() } else { 1 };
            let mut values = powers(size, first, cores.size[d]);
            if size.whole {
                values.push(0);
            }
            values
        }
    };
    tiles(space, values)
}

/// `first`, twice that, and so on, up to `most`, as far as the size has such values; at least one.
fn powers(size: &TileSize, first: i64, most: i64) -> Vec<i64> {
    let fit = |value: i64| (value.max(size.least) + size.step - 1) / size.step * size.step;
    let doubled = std::iter::successors(Some(first), |value| Some(2 * value));
    let mut values: Vec<i64> =
        doubled.take_while(|&value| value == first || value <= most).map(fit).collect();
    values.retain(|&value| value <= size.most);
    values.dedup();
    values
}

/// All combinations, thinned; each size no less than the constraints say.
fn tiles(space: &TileSpace, values: impl Fn(&TileSize) -> Vec<i64>) -> Vec<TileSizes> {
    let mut axes: Vec<Vec<i64>> = space.sizes.iter().map(values).collect();
    while axes.iter().map(Vec::len).product::<usize>() > MOST {
        let Some(longest) = axes.iter_mut().max_by_key(|axis| axis.len()) else { break };
        // Every second one; the first and a last one of 0 stay.
        let last = longest.last().copied().filter(|&value| value == 0);
        let mut thinned: Vec<i64> = longest.iter().copied().step_by(2).collect();
        if last.is_some() && thinned.last() != Some(&0) && thinned.len() + 1 < longest.len() {
            thinned.push(0);
        }
        *longest = thinned;
    }
    let mut tiles = vec![TileSizes::default()];
    for (size, values) in space.sizes.iter().zip(&axes) {
        let with = |tile: &TileSizes| -> Vec<TileSizes> {
            let least = space.least(size, tile);
            let fit = |&value: &i64| if value == 0 { 0 } else { value.max(least).min(size.most) };
            let mut own: Vec<i64> = values.iter().map(fit).collect();
            own.dedup();
            own.into_iter().map(|value| tile.clone().with(size.name, value)).collect()
        };
        tiles = tiles.iter().flat_map(with).collect();
    }
    tiles
}
