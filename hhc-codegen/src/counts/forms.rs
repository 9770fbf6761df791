//! What a search over models asks of a strategy.

use super::bounds::CountBounds;
use super::candidates::{Candidates, Limits, Run, Tabulated};
use super::cores::{CoreCounts, CoreSpace, Cores};
use super::multiprocessor::Multiprocessor;
use super::problem::Problem;
use super::tile::TileCounts;
use super::work::{LeastWork, TileWork};
use crate::TileSizes;
use std::fmt::Debug;

/// Values `first, first + step, ..`, `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    /// The first value.
    pub first: i64,
    /// The distance of neighbours.
    pub step: i64,
    /// Their number.
    pub count: i64,
}

impl Axis {
    /// The value at an index.
    #[inline]
    pub fn at(&self, index: i64) -> i64 {
        self.first + index * self.step
    }

    /// A single value.
    pub fn only(value: i64) -> Axis {
        Axis { first: value, step: 1, count: 1 }
    }

    /// The values from `first` on, up to the first one that is not below `last`.
    pub fn up_to(first: i64, step: i64, last: i64) -> Axis {
        Axis { first, step, count: ((last - first + step - 1).div_euclid(step) + 1).max(1) }
    }
}

/// Tiles of which some sizes are fixed and up to three, one per dimension, are free.
#[derive(Debug)]
pub struct Family {
    /// The values of the free sizes, slowest dimension first; where there is no such size, 1.
    pub axes: [Axis; 3],
    /// The fixed sizes, and the free ones by name, in the order in which they are written.
    pub names: Vec<SizeOf>,
    /// The counts.
    pub forms: Box<dyn TileForms>,
}

/// The greatest index below `count` for which a condition holds that holds up to some index; -1 where it never does.
pub fn last_true(count: i64, holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (-1, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Where the value of a size is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeOf {
    /// It is fixed.
    Fixed(&'static str, i64),
    /// It is that of an axis.
    Axis(&'static str, usize),
}

impl Family {
    /// The sizes as a strategy takes them.
    pub fn tile(&self, sizes: [i64; 3]) -> TileSizes {
        TileSizes::new(self.names.iter().map(|size| match *size {
            SizeOf::Fixed(name, value) => (name, value),
            SizeOf::Axis(name, axis) => (name, sizes[axis]),
        }))
    }

    /// Axes without the values that need too much memory even with the least of all others; `None` where none is left.
    pub fn shrunk(mut self, on: &Multiprocessor) -> Option<Family> {
        let least = self.axes.map(|axis| axis.first);
        if self.forms.tile_bytes(least) > on.shared_per_block_bytes {
            return None;
        }
        for d in 0..3 {
            let axis = self.axes[d];
            let fits = |index: i64| {
                let mut sizes = least;
                sizes[d] = axis.at(index);
                self.forms.tile_bytes(sizes) <= on.shared_per_block_bytes
            };
            self.axes[d].count = last_true(axis.count, fits) + 1;
        }
        Some(self)
    }
}

/// The counts of the tiles of a family. Sizes are those of its axes.
pub trait TileForms: Debug + Send + Sync {
    /// Number of counts of a tile: one, or one for each kind of tile that is launched on its own.
    fn classes(&self) -> usize {
        1
    }

    /// The counts of class `class`.
    fn counts(&self, class: usize, sizes: [i64; 3]) -> TileCounts;

    /// Bounds of the counts of class `class` over all sizes between `low` and `high`.
    fn bounds(&self, class: usize, low: [i64; 3], high: [i64; 3]) -> CountBounds;

    /// What the tiles of class `class` execute.
    fn work(&self, class: usize, sizes: [i64; 3]) -> TileWork;

    /// Registers that the compiler gives a thread of class `class`, and those that it needs at most: those of its work.
    fn registers(&self, class: usize, sizes: [i64; 3]) -> (i64, i64) {
        let work = self.work(class, sizes);
        (work.registers, work.needed)
    }

    /// What all tiles of class `class` with sizes between `low` and `high` execute at least.
    fn least_work(&self, class: usize, low: [i64; 3], high: [i64; 3]) -> LeastWork;

    /// `M_tile`: bytes of fast memory of a tile; grows with each size.
    fn tile_bytes(&self, sizes: [i64; 3]) -> i64;

    /// Whether a search looks at these sizes; larger ones it does not look at either.
    fn admits(&self, _sizes: [i64; 3]) -> bool {
        true
    }

    /// Threads of a block. For given other sizes they grow with the first one, but for one dimension.
    fn threads(&self, sizes: [i64; 3]) -> i64 {
        self.counts(0, sizes).threads
    }

    /// Registers of a thread at least, over all first sizes between `low` and `high` with these others, before the
    /// compiler's bound.
    fn least_registers(&self, _low: i64, _high: i64, _sizes: [i64; 3]) -> i64 {
        0
    }

    /// `w`: tiles of the fullest wavefront.
    fn tiles_per_wavefront(&self, sizes: [i64; 3]) -> i64 {
        self.counts(0, sizes).tiles_per_wavefront
    }

    /// `tS1 + tT/2`, the face of a tile that the paper's closed form maximises (eq. 6.5); `None` for tiles that have
    /// none, which take no part in it.
    fn face(&self, _sizes: [i64; 3]) -> Option<i64> {
        None
    }
}

/// The forms of a strategy.
pub trait Forms: Sync {
    /// All tiles that a search on a multiprocessor looks at. `most_height` is the largest height in logical rows; without
    /// it, what the back end accepts.
    fn families(&self, problem: &Problem, on: &Multiprocessor, most_height: Option<i64>) -> Vec<Family>;

    /// The tile that needs least of a multiprocessor, whether it fits or not; `None` where there is none.
    fn smallest(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])>;

    /// The family of this tile, and its sizes there.
    ///
    /// # Errors
    /// Why it cannot be counted, as half a sentence.
    fn of_tile(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String>;

    /// For what there are tables for a search over multiprocessors ([`Forms::candidates`]); `None` where a strategy takes no
    /// part in one.
    fn tabulated(&self) -> Option<Tabulated> {
        None
    }

    /// Tables for a search over multiprocessors, grids and sizes: all tiles that fit `limits` and are no larger than the
    /// largest grid needs, one table for those that have the same number of classes. Of [`Tabulated::GridByGrid`], for one run.
    /// Counts are those on a multiprocessor like `on`.
    fn candidates(
        &self,
        _problem: &Problem,
        _runs: &[Run],
        _limits: Limits,
        _on: &Multiprocessor,
    ) -> Vec<Box<dyn Candidates>> {
        Vec::new()
    }

    /// The tiles that a search on cores looks at.
    fn core_space(&self, cores: &Cores) -> CoreSpace;

    /// What cores do with this tile.
    ///
    /// # Errors
    /// Why it cannot be counted, as half a sentence.
    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String>;
}
