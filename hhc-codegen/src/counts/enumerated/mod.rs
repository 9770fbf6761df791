//! Counts of a strategy without closed forms, by looking at its plan.
//!
//! Nothing here knows what the sizes of a strategy mean. Limits: of long runs some host iterations stand for all
//! (`place`), one tile stands for all of a kernel's (`tiles`, `on_cores`), and a search looks at a few hundred tiles,
//! sizes in powers of two (`candidates`); there are no bounds, so that each of them is evaluated.

mod candidates;
mod on_cores;
mod parts;
mod place;
mod tiles;
mod wavefronts;

pub use on_cores::counts as core_counts;
pub use tiles::counts as tile_counts;

use super::accounting::Accounting;
use super::bounds::CountBounds;
use super::cores::{CoreCounts, CoreSpace, Cores};
use super::forms::{Axis, Family, Forms, SizeOf, TileForms};
use super::multiprocessor::Multiprocessor;
use super::problem::Problem;
use super::tile::TileCounts;
use super::work::{LeastWork, TileWork};
use crate::TileSizes;
use crate::strategy::interface::{self, Strategy};
use crate::strategy::tile_space::{Along, TileSpace};

/// The forms of a strategy that has none of its own: every tile is a family.
#[derive(Debug)]
pub struct Enumerated {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
}

/// The counts of one tile, one for each kernel.
#[derive(Debug)]
pub(crate) struct Counted(pub(crate) Vec<(TileCounts, TileWork)>);

impl TileForms for Counted {
    fn classes(&self) -> usize {
        self.0.len()
    }

    fn counts(&self, class: usize, _sizes: [i64; 3]) -> TileCounts {
        self.0[class].0
    }

    fn bounds(&self, class: usize, _low: [i64; 3], _high: [i64; 3]) -> CountBounds {
        CountBounds::of(&self.0[class].0)
    }

    fn work(&self, class: usize, _sizes: [i64; 3]) -> TileWork {
        self.0[class].1
    }

    fn least_work(&self, class: usize, _low: [i64; 3], _high: [i64; 3]) -> LeastWork {
        let (counts, work) = &self.0[class];
        let (sub_tile, q) = (work.full, counts.sub_tiles as f64);
        let all = sub_tile.times(work.full_launches * counts.tiles_per_wavefront as f64 * q);
        LeastWork { sub_tile, tile: sub_tile.times(q), all, launches: work.full_launches, edges: None }
    }

    fn tile_bytes(&self, _sizes: [i64; 3]) -> i64 {
        self.0.iter().map(|(counts, _)| counts.tile_bytes).max().unwrap_or(0)
    }

    fn threads(&self, _sizes: [i64; 3]) -> i64 {
        self.0.iter().map(|(counts, _)| counts.threads).max().unwrap_or(0)
    }
}

impl Enumerated {
    fn space(&self, problem: &Problem) -> TileSpace {
        self.strategy.space(&problem.program, &problem.cone)
    }

    fn family(&self, problem: &Problem, on: &Multiprocessor, tile: &TileSizes) -> Result<Family, String> {
        let plan = interface::plan(self.strategy, &problem.program, &problem.cone, tile)
            .map_err(|error| error.to_string())?;
        let accounting = Accounting::new(problem);
        let own = |counts: TileCounts| (counts, accounting.of_counts(&counts, on.lanes));
        let counts = tile_counts(&plan, problem, on)?.into_iter().map(own).collect();
        Ok(family_of(&self.space(problem), tile, Counted(counts)))
    }
}

/// The family of a single tile.
pub(crate) fn family_of(space: &TileSpace, tile: &TileSizes, counted: Counted) -> Family {
    let mut axes = [Axis::only(1); 3];
    let name = |size: &crate::strategy::tile_space::TileSize| {
        let value = tile.get(size.name).unwrap_or(0);
        match size.along {
            Along::Space(d) if space.along(d) == Some(size) => {
                axes[d] = Axis::only(value);
                SizeOf::Axis(size.name, d)
            }
            _ => SizeOf::Fixed(size.name, value),
        }
    };
    let names = space.sizes.iter().map(name).collect();
    Family { axes, names, forms: Box::new(counted) }
}

/// A tile that does not fit has counts, too, up to some size.
fn with_more_memory(on: &Multiprocessor) -> Multiprocessor {
    Multiprocessor { shared_per_block_bytes: on.shared_per_block_bytes.max(16 << 20), ..*on }
}

impl Forms for Enumerated {
    fn families(&self, problem: &Problem, on: &Multiprocessor, most_height: Option<i64>) -> Vec<Family> {
        let tiles = candidates::on_multiprocessors(&self.space(problem), problem, on, most_height);
        let families = tiles.iter().filter_map(|tile| self.family(problem, on, tile).ok());
        families.filter(|family| family.forms.tile_bytes([1; 3]) <= on.shared_per_block_bytes).collect()
    }

    fn smallest(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        _most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])> {
        let mut points = [1; 3];
        points[problem.dimension() - 1] = on.warp;
        let tile = self.space(problem).fitted(1, &points);
        let family = self.family(problem, &with_more_memory(on), &tile).ok()?;
        let sizes = family.axes.map(|axis| axis.first);
        Some((family, sizes))
    }

    fn of_tile(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        let family = self.family(problem, &with_more_memory(on), tile)?;
        let sizes = family.axes.map(|axis| axis.first);
        Ok((family, sizes))
    }

    fn core_space(&self, cores: &Cores) -> CoreSpace {
        CoreSpace::Each(candidates::on_cores(&self.strategy.space(&cores.program, &cores.cone), cores))
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        let plan = interface::plan(self.strategy, &cores.program, &cores.cone, tile)
            .map_err(|error| error.to_string())?;
        core_counts(&plan, cores)
    }
}
