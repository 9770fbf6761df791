//! What a search over models on cores asks of the strategy.

use super::diagonals;
use super::name::NAME;
use super::skew;
use super::tiles::{SIZES, Tiles};
use crate::TileSizes;
use crate::counts::cores::{CoreCounts, CoreSpace, Cores};
use crate::counts::forms::{Family, Forms};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::strategy::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};

/// The forms of the strategy.
pub(super) struct DiagonalForms {
    pub(super) space: fn(&polyhedral::program::Program) -> TileSpace,
}

impl Forms for DiagonalForms {
    fn families(&self, _problem: &Problem, _on: &Multiprocessor, _most_height: Option<i64>) -> Vec<Family> {
        Vec::new()
    }

    fn smallest(
        &self,
        _problem: &Problem,
        _on: &Multiprocessor,
        _most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])> {
        None
    }

    fn of_tile(
        &self,
        _problem: &Problem,
        _on: &Multiprocessor,
        _tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        Err("its tiles are for cores alone".to_owned())
    }

    fn core_space(&self, cores: &Cores) -> CoreSpace {
        CoreSpace::Each(candidates(&(self.space)(&cores.program), cores))
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        (self.space)(&cores.program).check(NAME, tile).map_err(|error| error.to_string())?;
        let skews = skew::skews(&cores.program, &cores.cone)?;
        let tiles = Tiles::new(&cores.program, skews, tile);
        let unknown = || "a bound of its plan mentions an unknown name".to_owned();
        diagonals::counts(&tiles, cores).map(CoreCounts::Diagonals).ok_or_else(unknown)
    }
}

/// Steps of a tile that a search looks at, by dimension of the grid.
const STEPS: [&[i64]; 3] = [
    &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    &[1, 2, 4, 8, 12, 16, 24, 32, 48, 64],
    &[1, 2, 3, 4, 6, 8, 12, 16],
];
/// Least and largest size that it looks at, in powers of two: of the slowest dimensions, and of the innermost one.
const POINTS: [[(i64, i64); 2]; 3] =
    [[(512, 1 << 16), (512, 1 << 16)], [(8, 512), (64, 2048)], [(4, 64), (64, 512)]];

/// The tiles that a search looks at: all combinations of these sizes below those of the grid; the innermost of several
/// dimensions may stay whole.
fn candidates(space: &TileSpace, cores: &Cores) -> Vec<TileSizes> {
    let dimension = cores.dimension();
    let values = |size: &TileSize| -> Vec<i64> {
        let fit = |value: i64| (value.max(size.least) + size.step - 1) / size.step * size.step;
        let mut values: Vec<i64> = match size.along {
            Along::Time { rows_per_step } => {
                let steps = STEPS[dimension - 1].iter();
                steps
                    .take_while(|&&steps| steps == 1 || steps <= cores.steps)
                    .map(|n| n * rows_per_step)
                    .collect()
            }
            Along::Space(d) => {
                let (least, most) = POINTS[dimension - 1][usize::from(d + 1 == dimension)];
                let most = most.min(LARGEST_SIZE);
                let doubled = std::iter::successors(Some(least), |value| Some(2 * value));
                let own = doubled.take_while(|&own| own == least || (own <= most && own < cores.size[d]));
                own.map(fit).collect()
            }
        };
        values.dedup();
        if size.whole && size.along == Along::Space(dimension - 1) {
            values.push(0);
        }
        values
    };
    let mut tiles = vec![TileSizes::default()];
    for (name, values) in SIZES.iter().zip(space.sizes.iter().map(values)) {
        let with = |tile: &TileSizes| -> Vec<TileSizes> {
            values.iter().map(|&value| tile.clone().with(name, value)).collect()
        };
        tiles = tiles.iter().flat_map(with).collect();
    }
    tiles
}
