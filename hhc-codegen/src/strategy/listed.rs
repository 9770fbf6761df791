//! The forms of strategies that have closed forms of their counts, and a finite list of tiles for each grid.
//!
//! Every tile is a family of its own, and all of them are looked at. For searches over multiprocessors they are tabulated grid by
//! grid, for one lane: with the points of rows, rounds of any number of lanes are sums of divisions.

use super::interface::Strategy;
use crate::TileSizes;
use crate::counts::candidates::{Candidates, Limits, OfGrid, OnGrid, Run, Sizes, Tabulated};
use crate::counts::cores::{CoreCounts, CoreSpace, Cores};
use crate::counts::enumerated::{Counted, Enumerated, family_of};
use crate::counts::forms::{Family, Forms};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::work::TileWork;
use std::collections::BTreeMap;

/// The counts of a tile, and what its warps execute: kernel by kernel; or why it has none.
pub(super) type CountsOf =
    fn(&Problem, &Multiprocessor, &TileSizes) -> Result<Vec<(TileCounts, TileWork)>, String>;

/// The rows of a tile, kernel by kernel: points, and how many rows have so many.
pub(super) type RowsOf = fn(&Problem, &TileSizes) -> Vec<Vec<(i64, i64)>>;

/// The forms of a strategy.
pub(super) struct Listed {
    pub(super) strategy: &'static dyn Strategy,
    /// The tiles that a search looks at.
    pub(super) tiles: fn(&Problem) -> Vec<TileSizes>,
    /// The tile that needs least.
    pub(super) smallest: fn(&Problem) -> Option<TileSizes>,
    pub(super) counts: CountsOf,
    /// The rows of a tile that end in a barrier each; none where warps run rows side by side, which fill lanes together.
    pub(super) rows: Option<RowsOf>,
}

impl Forms for Listed {
    fn families(&self, problem: &Problem, on: &Multiprocessor, _most_height: Option<i64>) -> Vec<Family> {
        let space = self.strategy.space(&problem.program, &problem.cone);
        let family = |tile: TileSizes| {
            Some(family_of(&space, &tile, Counted((self.counts)(problem, on, &tile).ok()?)))
        };
        let families = (self.tiles)(problem).into_iter().filter_map(family);
        families.filter(|family| family.forms.tile_bytes([1; 3]) <= on.shared_per_block_bytes).collect()
    }

    fn smallest(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        _most_height: Option<i64>,
    ) -> Option<(Family, [i64; 3])> {
        self.of_tile(problem, on, &(self.smallest)(problem)?).ok()
    }

    fn of_tile(
        &self,
        problem: &Problem,
        on: &Multiprocessor,
        tile: &TileSizes,
    ) -> Result<(Family, [i64; 3]), String> {
        let space = self.strategy.space(&problem.program, &problem.cone);
        space.check(self.strategy.id(), tile).map_err(|error| error.to_string())?;
        self.strategy.fits(&problem.program, tile).map_err(|(_, reason)| reason)?;
        let family = family_of(&space, tile, Counted((self.counts)(problem, on, tile)?));
        let sizes = family.axes.map(|axis| axis.first);
        Ok((family, sizes))
    }

    fn tabulated(&self) -> Option<Tabulated> {
        Some(Tabulated::GridByGrid)
    }

    fn candidates(
        &self,
        problem: &Problem,
        runs: &[Run],
        limits: Limits,
        on: &Multiprocessor,
    ) -> Vec<Box<dyn Candidates>> {
        let [run] = runs else { return Vec::new() };
        let problem = problem.with_size(&run.size, run.steps);
        let names = self.strategy.size_names();
        // By number of kernels.
        let mut tables: BTreeMap<usize, Table> = BTreeMap::new();
        let counted = |tile: TileSizes| Some(((self.counts)(&problem, &on.with_lanes(1), &tile).ok()?, tile));
        let fits = |(kernels, _): &(Vec<(TileCounts, TileWork)>, TileSizes)| {
            !kernels.is_empty() && kernels.iter().all(|(counts, _)| counts.tile_bytes <= limits.bytes)
        };
        let all = (self.tiles)(&problem).into_iter().filter_map(counted).filter(fits);
        for (kernels, tile) in all.take(limits.tiles + 1) {
            let table = tables.entry(kernels.len());
            let table = table.or_insert(Table {
                names,
                kernels: kernels.len(),
                sizes: Vec::new(),
                counts: Vec::new(),
                rows: Vec::new(),
            });
            let mut sizes = Sizes::default();
            names.iter().zip(&mut sizes).for_each(|(name, size)| *size = tile.get(name).unwrap_or(0));
            table.sizes.push(sizes);
            table.rows.extend(match self.rows {
                Some(rows) => rows(&problem, &tile),
                None => kernels.iter().map(|(counts, _)| vec![(counts.lane_rounds, 1)]).collect(),
            });
            table.counts.extend(kernels.into_iter().map(|(counts, _)| counts));
        }
        tables.into_values().map(|table| Box::new(table) as Box<dyn Candidates>).collect()
    }

    fn core_space(&self, cores: &Cores) -> CoreSpace {
        Enumerated { strategy: self.strategy }.core_space(cores)
    }

    fn on_cores(&self, cores: &Cores, tile: &TileSizes) -> Result<CoreCounts, String> {
        Enumerated { strategy: self.strategy }.on_cores(cores, tile)
    }
}

/// The tiles of one grid that are launched by so many kernels.
#[derive(Debug)]
struct Table {
    names: &'static [&'static str],
    kernels: usize,
    sizes: Vec<Sizes>,
    /// Tile by tile, kernel by kernel; lane rounds are those of one lane.
    counts: Vec<TileCounts>,
    /// Points of rows whose lanes do nothing else, and how many rows have so many; in the order of `counts`.
    rows: Vec<Vec<(i64, i64)>>,
}

impl Candidates for Table {
    fn sizes(&self) -> &[Sizes] {
        &self.sizes
    }

    fn classes(&self) -> usize {
        self.kernels
    }

    fn has_threads(&self) -> bool {
        true
    }

    fn counts(&self) -> Vec<TileCounts> {
        self.counts.clone()
    }

    fn lane_rounds(&self, candidate: usize, class: usize, lanes: i64) -> i64 {
        let entry = candidate * self.kernels + class;
        // Lanes without threads do nothing.
        let lanes = lanes.min(self.counts[entry].threads);
        self.rows[entry].iter().map(|(points, rows)| (points + lanes - 1) / lanes * rows).sum()
    }

    fn on_grid(&self, _problem: &Problem) -> Box<dyn OnGrid> {
        Box::new(Grid { kernels: self.kernels, entries: self.counts.iter().map(OfGrid::of).collect() })
    }

    fn face(&self, _sizes: &Sizes) -> Option<i64> {
        None
    }

    fn tile(&self, sizes: &Sizes) -> TileSizes {
        TileSizes::new(self.names.iter().copied().zip(*sizes))
    }
}

/// The grid that the tiles are listed for.
#[derive(Debug)]
struct Grid {
    kernels: usize,
    entries: Vec<OfGrid>,
}

impl OnGrid for Grid {
    fn of(&self, candidate: usize, class: usize) -> OfGrid {
        self.entries[candidate * self.kernels + class]
    }
}
