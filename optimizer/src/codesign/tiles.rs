//! The tile sizes of a stencil under a strategy, tabulated for a search over hardware.
//!
//! Counts of a tile fall into two groups, each tabulated as often as it changes and not more:
//!
//! ```text
//! words, iterations, bytes, lane rounds, threads, registers      per stencil and n_V        TileTable
//! wavefronts, tiles, sub-tiles                                   per stencil and grid       OnGrid
//! ```
//!
//! so that `n_SM`, `M_SM` and the budgets vary without a new table.

use hhc_codegen::counts::{
    Candidates, Limits, Multiprocessor, OfGrid, OnGrid, Problem, Run, TileCounts, forms,
};
use hhc_codegen::strategy::Strategy;
use std::sync::{Arc, OnceLock};

pub use hhc_codegen::counts::Sizes;

/// The candidates of a stencil under a strategy, and all grids that it runs on.
#[derive(Debug, Clone)]
pub struct TileSpace {
    /// The strategy.
    pub strategy: &'static dyn Strategy,
    candidates: Arc<dyn Candidates>,
    grids: Vec<Arc<dyn OnGrid>>,
    /// By execution, then by candidate: what bounds need of the grid, which no design changes.
    near: Arc<Vec<OnceLock<Vec<NearGrid>>>>,
}

/// Wavefronts, tiles of the fullest one, and sub-tiles of each; as many as fit 32 bits, so that a table stays in a cache.
pub type NearGrid = [u32; 3];

/// Counts of all candidates for one number of lanes; those of the grid are of no grid in particular.
#[derive(Debug, Clone)]
pub struct TileTable {
    /// `stride` entries per candidate: one, or one for each kind of tile that is launched on its own.
    pub counts: Vec<TileCounts>,
    /// Entries per candidate.
    pub stride: usize,
    /// Lanes that rows are dealt to.
    pub lanes: i64,
}

impl TileSpace {
    /// Lists the candidates: all tile sizes whose window fits `limits`, no larger than the largest grid needs. `None`
    /// where the strategy cannot tile the stencil, or has no tables.
    pub fn new(
        strategy: &'static dyn Strategy,
        problem: &Problem,
        runs: &[Run],
        limits: Limits,
    ) -> Option<TileSpace> {
        strategy.takes(&problem.program, &problem.cone).ok()?;
        let candidates: Arc<dyn Candidates> = forms(strategy).candidates(problem, runs, limits)?.into();
        let on = |run: &Run| candidates.on_grid(&problem.with_size(&run.size, run.steps)).into();
        let grids = runs.iter().map(on).collect();
        let near = Arc::new(runs.iter().map(|_| OnceLock::new()).collect());
        Some(TileSpace { strategy, candidates, grids, near })
    }

    /// Tile sizes, in the order of the tables.
    pub fn sizes(&self) -> &[Sizes] {
        self.candidates.sizes()
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.sizes().len()
    }

    /// Whether no tile fits.
    pub fn is_empty(&self) -> bool {
        self.sizes().is_empty()
    }

    /// The counts of all candidates on a multiprocessor.
    pub fn table(&self, on: &Multiprocessor) -> TileTable {
        TileTable { counts: self.candidates.counts(on), stride: self.candidates.classes(), lanes: on.lanes }
    }

    /// Lane rounds of entry `entry` of a candidate where its rows are dealt to so many lanes.
    pub fn lane_rounds(&self, candidate: usize, entry: usize, lanes: i64) -> i64 {
        self.candidates.lane_rounds(candidate, entry, lanes)
    }

    /// What grid `run` adds to the counts of entry `entry` of a candidate.
    #[inline]
    pub fn of_grid(&self, run: usize, candidate: usize, entry: usize) -> OfGrid {
        self.grids[run].of(candidate, entry)
    }

    /// What bounds need of grid `run`, by candidate: of tiles of one kind. Numbers beyond 32 bits are the largest that has them: a
    /// bound may be lower.
    pub fn near(&self, run: usize) -> &[NearGrid] {
        self.near[run].get_or_init(|| {
            let small = |value: i64| u32::try_from(value).unwrap_or(u32::MAX);
            let of = |candidate: usize| {
                let OfGrid { wavefronts, tiles_per_wavefront, sub_tiles, .. } =
                    self.of_grid(run, candidate, 0);
                [wavefronts, tiles_per_wavefront, sub_tiles].map(small)
            };
            (0..self.len()).map(of).collect()
        })
    }

    /// The face of a tile, which the closed form maximises.
    pub fn face(&self, sizes: &Sizes) -> i64 {
        self.candidates.face(sizes)
    }

    /// Tile sizes as the command line writes them: `st=4,s0=16,s1=32`.
    pub fn text(&self, sizes: &Sizes) -> String {
        self.candidates.tile(sizes).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codesign::workload::strategies;
    use polyhedral::shipped;
    use std::sync::Arc;

    /// Tables and grids together are the closed forms themselves.
    #[test]
    fn tables_equal_the_closed_forms() {
        let on = Multiprocessor { lanes: 96, ..Multiprocessor::ANY };
        for (name, size) in
            [("heat1d", vec![5000]), ("gradient2d", vec![700, 611]), ("heat3d", vec![90, 80, 70])]
        {
            let program = Arc::new(shipped::load(name).unwrap());
            let first = Problem::new(&program, &size, 40).unwrap();
            let other: Vec<i64> = size.iter().map(|n| n + 33).collect();
            let runs = [Run { size, steps: 40 }, Run { size: other.clone(), steps: 77 }];
            for strategy in strategies() {
                let limits = Limits { bytes: 12 * 1024, warp: 32 };
                let space = TileSpace::new(strategy, &first, &runs, limits).unwrap();
                let table = space.table(&on);
                assert!(space.len() > 5, "{name} {}", space.len());
                let second = first.with_size(&other, 77);
                for candidate in (0..space.len()).step_by(31) {
                    let tile = space.candidates.tile(&space.sizes()[candidate]);
                    let (family, sizes) = forms(strategy).of_tile(&second, &on, &tile).unwrap();
                    for entry in 0..table.stride {
                        let counts = &table.counts[candidate * table.stride + entry];
                        assert_eq!(space.lane_rounds(candidate, entry, on.lanes), counts.lane_rounds);
                        assert_eq!(
                            space.of_grid(1, candidate, entry).on(counts),
                            TileCounts { registers: counts.registers, ..family.forms.counts(entry, sizes) },
                            "{name} {tile}"
                        );
                    }
                }
            }
        }
    }
}
