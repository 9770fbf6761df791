//! Tables of counts for a search over hardware and tile sizes together.
//!
//! Counts of a tile fall into two groups, each tabulated as often as it changes and not more:
//!
//! ```text
//! words, iterations, bytes, lane rounds, threads, registers      per stencil and multiprocessor   Candidates
//! wavefronts, tiles, sub-tiles                                   per stencil and grid             OnGrid
//! ```
//!
//! Where the grid changes the first group, too, each grid has candidates of its own ([`Tabulated::GridByGrid`]).

use super::problem::Problem;
use super::tile::TileCounts;
use crate::TileSizes;
use serde::Serialize;
use std::fmt::Debug;

/// One execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// Grid extents, slowest dimension first.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
}

/// Tile sizes, in the order of the strategy's own; 0 where there are fewer.
pub type Sizes = [i64; MOST_SIZES];

/// Tile sizes that a strategy with tables has at most.
pub const MOST_SIZES: usize = 5;

/// For what candidates are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tabulated {
    /// Once for all grids of a stencil.
    ForAllGrids,
    /// Grid by grid: what a tile does, and which are worth looking at, depends on the grid.
    GridByGrid,
}

/// What a block may have, for any number of lanes: enough to list candidates.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of shared memory.
    pub bytes: i64,
    /// Threads of a warp: innermost sizes are its multiples, so that rows are read without gaps.
    pub warp: i64,
    /// Tiles that are listed; where there are more, one more is.
    pub tiles: usize,
    /// Whether time alone matters: where there are more tiles, those may be left out that another one is as fast as on any
    /// multiprocessor.
    pub time_alone: bool,
}

/// What the size of the grid adds to the counts of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfGrid {
    /// `N_w`
    pub wavefronts: i64,
    /// `w`
    pub tiles_per_wavefront: i64,
    /// Tiles of all wavefronts.
    pub tiles: i64,
    /// `q`
    pub sub_tiles: i64,
    /// Iterations that really run.
    pub total_iterations: i64,
}

impl OfGrid {
    /// Those of these counts.
    pub fn of(counts: &TileCounts) -> Self {
        OfGrid {
            wavefronts: counts.wavefronts,
            tiles_per_wavefront: counts.tiles_per_wavefront,
            tiles: counts.tiles,
            sub_tiles: counts.sub_tiles,
            total_iterations: counts.total_iterations,
        }
    }

    /// The counts of a tile on this grid.
    #[inline]
    pub fn on(&self, tile: &TileCounts) -> TileCounts {
        TileCounts {
            wavefronts: self.wavefronts,
            tiles_per_wavefront: self.tiles_per_wavefront,
            tiles: self.tiles,
            sub_tiles: self.sub_tiles,
            total_iterations: self.total_iterations,
            ..*tile
        }
    }
}

/// The candidates of a stencil under a strategy.
pub trait Candidates: Debug + Send + Sync {
    /// Tile sizes, in the order of the tables.
    fn sizes(&self) -> &[Sizes];

    /// Counts per candidate: one, or one for each kind of tile that is launched on its own.
    fn classes(&self) -> usize;

    /// Whether each candidate has a number of threads of its own, and not any that is chosen.
    fn has_threads(&self) -> bool {
        false
    }

    /// The counts of all candidates, class by class, lane rounds those of one lane; those of the grid are of no grid in
    /// particular, if there are several. Registers are those of a thread that computes one point at a time where the number of
    /// threads is not decided here.
    fn counts(&self) -> Vec<TileCounts>;

    /// Lane rounds of a candidate's class `class` where its rows are dealt to so many lanes: what `counts` says for
    /// this number of lanes.
    fn lane_rounds(&self, candidate: usize, class: usize, lanes: i64) -> i64;

    /// Lane rounds of all candidates, class by class.
    fn all_lane_rounds(&self, lanes: i64) -> Vec<i64> {
        let of = |candidate: usize| {
            (0..self.classes()).map(move |class| self.lane_rounds(candidate, class, lanes))
        };
        (0..self.sizes().len()).flat_map(of).collect()
    }

    /// The stencil's other grid.
    fn on_grid(&self, problem: &Problem) -> Box<dyn OnGrid>;

    /// `tS1 + tT/2`, what the paper's closed form maximises (eq. 6.5); `None` for tiles that have none.
    fn face(&self, sizes: &Sizes) -> Option<i64>;

    /// The sizes by name.
    fn tile(&self, sizes: &Sizes) -> TileSizes;
}

/// A grid: what it adds to the counts of each candidate.
pub trait OnGrid: Debug + Send + Sync {
    /// What it adds to the counts of class `class` of a candidate.
    fn of(&self, candidate: usize, class: usize) -> OfGrid;
}
