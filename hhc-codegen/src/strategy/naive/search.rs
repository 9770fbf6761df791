//! What a search over models looks at: one family of blocks, with closed forms of its counts.

use super::forms::Blocks;
use super::sizes::SIZES;
use super::sweeps;
use super::tables::Tables;
use crate::TileSizes;
use crate::counts::bounds::CountBounds;
use crate::counts::candidates::{Candidates, Limits, Run, Tabulated};
use crate::counts::cores::{CoreCounts, CoreSpace, Cores};
use crate::counts::forms::{Axis, Family, Forms, SizeOf, TileForms};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::work::{LeastWork, TileWork};

/// Points of a block per thread that a block may have: larger blocks only repeat it.
const POINTS_PER_THREAD: i64 = 64;

/// The forms of the strategy.
pub struct BlockForms;

/// Blocks up to some number of points.
#[derive(Debug)]
struct Limited {
    blocks: Blocks,
    most_points: i64,
}

impl TileForms for Limited {
    fn classes(&self) -> usize {
        self.blocks.statements()
    }

    fn counts(&self, class: usize, sizes: [i64; 3]) -> TileCounts {
        self.blocks.counts(class, sizes)
    }

    fn bounds(&self, class: usize, low: [i64; 3], high: [i64; 3]) -> CountBounds {
        self.blocks.bounds(class, low, high)
    }

    fn work(&self, class: usize, sizes: [i64; 3]) -> TileWork {
        self.blocks.work(class, sizes)
    }

    fn registers(&self, class: usize, sizes: [i64; 3]) -> (i64, i64) {
        self.blocks.registers_given_and_needed(class, sizes)
    }

    fn least_work(&self, class: usize, low: [i64; 3], _high: [i64; 3]) -> LeastWork {
        self.blocks.least_work(class, low)
    }

    fn tile_bytes(&self, _sizes: [i64; 3]) -> i64 {
        0
    }

    fn admits(&self, sizes: [i64; 3]) -> bool {
        self.most_points == i64::MAX || sizes[0] * sizes[1] * sizes[2] <= self.most_points
    }

    fn least_registers(&self, _low: i64, _high: i64, _sizes: [i64; 3]) -> i64 {
        self.blocks.least_registers()
    }
}

fn family(problem: &Problem, on: &Multiprocessor, axes: [Axis; 3], most_points: i64) -> Family {
    let free = SIZES.into_iter().enumerate().take(problem.dimension());
    Family {
        axes,
        names: free.map(|(axis, name)| SizeOf::Axis(name, axis)).collect(),
        forms: Box::new(Limited { blocks: Blocks::new(problem, on), most_points }),
    }
}

impl Forms for BlockForms {
    fn families(&self, problem: &Problem, on: &Multiprocessor, _most_height: Option<i64>) -> Vec<Family> {
        let dimension = problem.dimension();
        let most_points = POINTS_PER_THREAD * on.threads_per_block;
        let mut axes = [Axis::only(1); 3];
        for (d, axis) in axes.iter_mut().enumerate().take(dimension) {
            let step = if d + 1 == dimension { on.warp } else { 1 };
            *axis = Axis::up_to(step, step, problem.extent(d).min(most_points));
        }
        vec![family(problem, on, axes, most_points)]
    }

    fn smallest(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])> {
        let family = self.families(problem, on, most_height).into_iter().next()?;
        let sizes = family.axes.map(|axis| axis.first);
        Some((family, sizes))
    }

    fn of_tile(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        let mut sizes = [1; 3];
        for (d, name) in SIZES.into_iter().enumerate().take(problem.dimension()) {
            sizes[d] = tile.get(name).ok_or_else(|| format!("the size {name} is missing"))?;
        }
        Ok((family(problem, on, sizes.map(Axis::only), i64::MAX), sizes))
    }

    fn tabulated(&self) -> Option<Tabulated> {
        Some(Tabulated::ForAllGrids)
    }

    fn candidates(
        &self,
        problem: &Problem,
        runs: &[Run],
        limits: Limits,
        on: &Multiprocessor,
    ) -> Vec<Box<dyn Candidates>> {
        vec![Box::new(Tables::new(problem, runs, limits, on))]
    }

    fn core_space(&self, cores: &Cores) -> CoreSpace {
        CoreSpace::Each(sweeps::tiles(cores))
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        Ok(CoreCounts::Sweeps(sweeps::sweeps(cores, SIZES.map(|name| tile.get(name).unwrap_or(0)))))
    }
}
