//! Forms of a strategy for cores alone, of whose tiles a search looks at each of a list.

use super::tile_space::{Along, LARGEST_SIZE, TileSize, TileSpace};
use crate::TileSizes;
use crate::counts::cores::{CoreCounts, CoreSpace, Cores};
use crate::counts::forms::{Family, Forms};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use polyhedral::program::Program;

/// The forms.
pub(super) struct OnCores {
    pub(super) strategy: &'static str,
    /// The sizes that it takes.
    pub(super) space: fn(&Program) -> TileSpace,
    /// The values that the list is made of.
    pub(super) listed: Listed,
    /// The counts of a tile of the space.
    pub(super) counts: fn(&Cores, &TileSizes) -> Result<CoreCounts, String>,
}

/// The values of a list: all combinations of those below the grid's extents; the innermost of several dimensions may stay
/// whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listed {
    /// Steps, by dimension of the grid.
    pub(super) steps: [&'static [i64]; 3],
    /// Least and largest size, in powers of two: of the slower dimensions, and of the innermost one.
    pub(super) points: [[(i64, i64); 2]; 3],
}

impl Forms for OnCores {
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
        CoreSpace::Each(self.listed.tiles(&(self.space)(&cores.program), cores))
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        (self.space)(&cores.program).check(self.strategy, tile).map_err(|error| error.to_string())?;
        (self.counts)(cores, tile)
    }
}

impl Listed {
    fn tiles(&self, space: &TileSpace, cores: &Cores) -> Vec<TileSizes> {
        let dimension = cores.dimension();
        let values = |size: &TileSize| -> Vec<i64> {
            let fit = |value: i64| (value.max(size.least) + size.step - 1) / size.step * size.step;
            let mut values: Vec<i64> = match size.along {
                Along::Time { rows_per_step } => {
                    let steps = self.steps[dimension - 1].iter();
                    steps
                        .take_while(|&&steps| steps == 1 || steps <= cores.steps)
                        .map(|n| n * rows_per_step)
                        .collect()
                }
                Along::Space(d) => {
                    let (least, most) = self.points[dimension - 1][usize::from(d + 1 == dimension)];
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
        for size in &space.sizes {
            let values = values(size);
            let with = |tile: &TileSizes| -> Vec<TileSizes> {
                values.iter().map(|&value| tile.clone().with(size.name, value)).collect()
            };
            tiles = tiles.iter().flat_map(with).collect();
        }
        tiles
    }
}
