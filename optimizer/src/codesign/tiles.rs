//! The tile sizes of a stencil under a strategy, tabulated for a search over hardware.
//!
//! Counts of a tile fall into three groups, each tabulated as often as it changes and not more:
//!
//! ```text
//! shape of the tile (words, iterations, bytes)      per stencil
//! lane rounds, threads, registers                   per stencil and n_V        TileTable
//! wavefronts, tiles, sub-tiles                      per stencil and grid       Grid
//! ```
//!
//! so that `n_SM`, `M_SM` and the budgets vary without a new table.

use super::workload::{Run, Strategy};
use cost_models::counts::TileCounts;
use cost_models::forms::{Fast, Hexagonal, Naive, Problem};

/// Tile sizes: `st, s0, s1, s2`; 0 where a strategy or a dimension has none.
pub type Sizes = [i64; 4];

/// More points per block of the naive strategy than this make no difference: a lane has several.
const MOST_NAIVE_POINTS: i64 = 8192;

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
    fn of(counts: &TileCounts) -> Self {
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

/// The candidates of a stencil under a strategy, and all grids that it runs on.
#[derive(Debug, Clone)]
pub struct TileSpace {
    /// The strategy.
    pub strategy: Strategy,
    /// The stencil on its first grid.
    pub problem: Problem,
    /// Tile sizes, in the order of the tables.
    pub sizes: Vec<Sizes>,
    /// Per candidate: index of its height among `heights`.
    height_of: Vec<u32>,
    heights: Vec<i64>,
    grids: Vec<Grid>,
}

/// One grid: tables of the factors of [`OfGrid`].
#[derive(Debug, Clone)]
enum Grid {
    /// Per height.
    Hexagonal(Vec<OfHeight>),
    /// Per candidate and statement.
    Naive(Vec<OfGrid>),
}

#[derive(Debug, Clone)]
struct OfHeight {
    wavefronts: i64,
    total_iterations: i64,
    least: i64,
    /// By `s0 - least`: tiles of the fullest wavefront, and of all.
    tiles: Vec<(i64, i64)>,
    /// By size: sub-tiles along each classical dimension.
    sub_tiles: [Vec<i64>; 2],
}

/// Counts of all candidates for one number of lanes; those of the grid are of no grid in particular.
#[derive(Debug, Clone)]
pub struct TileTable {
    /// `stride` entries per candidate: one, or one per statement where each has tiles of its own.
    pub counts: Vec<TileCounts>,
    /// Entries per candidate.
    pub stride: usize,
}

/// What a block may have, for any number of lanes: enough to list candidates.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of shared memory.
    pub bytes: i64,
    /// Threads of a warp: innermost sizes are its multiples, so that rows are read without gaps.
    pub warp: i64,
}

/// Registers of no multiprocessor in particular, for counts that do not depend on them.
const ANY: Fast =
    Fast::Shared { threads_per_block: 1024, registers_per_sm: 65_536, registers_per_thread: 255 };

impl TileSpace {
    /// Lists the candidates: all tile sizes whose window fits `limits`, no larger than the largest grid needs.
    pub fn new(strategy: Strategy, problem: &Problem, runs: &[Run], limits: Limits) -> TileSpace {
        let mut space = TileSpace {
            strategy,
            problem: problem.clone(),
            sizes: Vec::new(),
            height_of: Vec::new(),
            heights: Vec::new(),
            grids: Vec::new(),
        };
        // Larger tiles than the grid are no better than those that just cover it.
        let cover =
            |d: usize| runs.iter().map(|run| run.size.get(d).copied().unwrap_or(1)).max().unwrap_or(1);
        let cover = [cover(0), cover(1), cover(2)];
        match strategy {
            Strategy::Hhc => {
                space.list_hexagonal(cover, runs, limits);
                space.grids = runs.iter().map(|run| space.hexagonal_grid(run)).collect();
            }
            Strategy::Naive => {
                space.list_naive(cover, limits);
                space.grids = runs.iter().map(|run| space.naive_grid(run)).collect();
            }
        }
        space
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether no tile fits.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    fn hexagonal(&self, st: i64, lanes: i64, fast: Fast) -> Hexagonal {
        Hexagonal::new(&self.problem, st, lanes, fast, [None; 3])
    }

    fn list_hexagonal(&mut self, cover: [i64; 3], runs: &[Run], limits: Limits) {
        let dimension = self.problem.dimension();
        let statements = self.problem.program.statements.len() as i64;
        let last = runs.iter().map(|run| run.steps).max().unwrap_or(1) * statements;
        let warp = |d: usize| if d > 0 && d == dimension - 1 { limits.warp } else { 1 };
        for st in (1..=last / statements).map(|n| n * statements) {
            let forms = self.hexagonal(st, 1, ANY);
            // A sub-tile as long as the skewed dimension needs no second one.
            let skew = |d: usize| match d {
                0 => 0,
                _ => (self.problem.cone.lower[d] * (2 * st - 1)).floor().to_integer(),
            };
            let reach: Vec<i64> = (0..dimension).map(|d| cover[d] + skew(d)).collect();
            let sizes_of = |d: usize| (1..=(reach[d] + warp(d) - 1) / warp(d)).map(move |n| n * warp(d));
            let fits = |sizes: [i64; 3]| forms.tile_bytes(sizes) <= limits.bytes;
            let least = [
                forms.least_flat_top,
                if dimension > 1 { warp(1) } else { 1 },
                if dimension > 2 { warp(2) } else { 1 },
            ];
            if !fits(least) {
                // Higher tiles have wider windows.
                break;
            }
            let height = self.heights.len() as u32;
            self.heights.push(st);
            for s0 in (least[0]..=reach[0].max(least[0])).take_while(|&s0| fits([s0, least[1], least[2]])) {
                if dimension == 1 {
                    self.push([st, s0, 0, 0], height);
                    continue;
                }
                for s1 in sizes_of(1).take_while(|&s1| fits([s0, s1, least[2]])) {
                    if dimension == 2 {
                        self.push([st, s0, s1, 0], height);
                        continue;
                    }
                    for s2 in sizes_of(2).take_while(|&s2| fits([s0, s1, s2])) {
                        self.push([st, s0, s1, s2], height);
                    }
                }
            }
        }
    }

    fn list_naive(&mut self, cover: [i64; 3], limits: Limits) {
        let dimension = self.problem.dimension();
        let inner = limits.warp;
        let mut block = |outer: [i64; 2], innermost: i64| {
            let sizes = match dimension {
                1 => [0, innermost, 0, 0],
                2 => [0, outer[0], innermost, 0],
                _ => [0, outer[0], outer[1], innermost],
            };
            self.push(sizes, 0);
        };
        let powers = |most: i64| (0..14).map(|e| 1_i64 << e).take_while(move |&n| n < 2 * most);
        for first in powers(if dimension > 1 { cover[0] } else { 1 }) {
            for second in powers(if dimension > 2 { cover[1] } else { 1 }) {
                for innermost in powers((cover[dimension - 1] / inner).max(1)).map(|n| n * inner) {
                    if first * second * innermost <= MOST_NAIVE_POINTS {
                        block([first, second], innermost);
                    }
                }
            }
        }
    }

    fn push(&mut self, sizes: Sizes, height: u32) {
        self.sizes.push(sizes);
        self.height_of.push(height);
    }

    fn hexagonal_grid(&self, run: &Run) -> Grid {
        let problem = self.problem.with_size(&run.size, run.steps);
        let mut most = vec![[0_i64; 4]; self.heights.len()];
        for (sizes, &height) in self.sizes.iter().zip(&self.height_of) {
            let most = &mut most[height as usize];
            (0..4).for_each(|d| most[d] = most[d].max(sizes[d]));
        }
        let of_height = |(&st, most): (&i64, &[i64; 4])| {
            let forms = Hexagonal::new(&problem, st, 1, ANY, [None; 3]);
            let least = forms.least_flat_top;
            let tiles = (least..=most[1]).map(|s0| {
                let phases = forms.phases(s0);
                (forms.tiles_per_wavefront(s0), phases.iter().map(|phase| phase.all_tiles()).sum())
            });
            let along = |d: usize, most: i64| {
                (0..=most).map(|size| if size == 0 { 1 } else { forms.sub_tiles(d, size) }).collect()
            };
            OfHeight {
                wavefronts: forms.wavefronts(),
                total_iterations: problem.total_iterations(),
                least,
                tiles: tiles.collect(),
                sub_tiles: [along(1, most[2]), along(2, most[3])],
            }
        };
        Grid::Hexagonal(self.heights.iter().zip(&most).map(of_height).collect())
    }

    fn naive_grid(&self, run: &Run) -> Grid {
        let problem = self.problem.with_size(&run.size, run.steps);
        let forms = Naive::new(&problem, 1, ANY);
        let all = self.sizes.iter().flat_map(|&sizes| {
            (0..forms.statements()).map(|k| OfGrid::of(&forms.counts(k, blocks(sizes)))).collect::<Vec<_>>()
        });
        Grid::Naive(all.collect())
    }

    /// The counts of all candidates for `lanes` lanes per multiprocessor with these registers.
    pub fn table(&self, lanes: i64, fast: Fast) -> TileTable {
        match self.strategy {
            Strategy::Hhc => {
                let forms: Vec<Hexagonal> =
                    self.heights.iter().map(|&st| self.hexagonal(st, lanes, fast)).collect();
                let of = |(sizes, height): (&Sizes, &u32)| forms[*height as usize].counts(blocks(*sizes));
                TileTable { counts: self.sizes.iter().zip(&self.height_of).map(of).collect(), stride: 1 }
            }
            Strategy::Naive => {
                let forms = Naive::new(&self.problem, lanes, fast);
                let stride = forms.statements();
                let of =
                    |&sizes: &Sizes| (0..stride).map(|k| forms.counts(k, blocks(sizes))).collect::<Vec<_>>();
                TileTable { counts: self.sizes.iter().flat_map(of).collect(), stride }
            }
        }
    }

    /// What grid `run` adds to the counts of statement entry `entry` of a candidate.
    #[inline]
    pub fn of_grid(&self, run: usize, candidate: usize, entry: usize, stride: usize) -> OfGrid {
        match &self.grids[run] {
            Grid::Naive(all) => all[candidate * stride + entry],
            Grid::Hexagonal(heights) => {
                let [_, s0, s1, s2] = self.sizes[candidate];
                let height = &heights[self.height_of[candidate] as usize];
                let (tiles_per_wavefront, tiles) = height.tiles[(s0 - height.least) as usize];
                OfGrid {
                    wavefronts: height.wavefronts,
                    tiles_per_wavefront,
                    tiles,
                    sub_tiles: height.sub_tiles[0][s1 as usize] * height.sub_tiles[1][s2 as usize],
                    total_iterations: height.total_iterations,
                }
            }
        }
    }
}

/// Sizes per dimension, 1 where there is no such dimension.
fn blocks(sizes: Sizes) -> [i64; 3] {
    [sizes[1], sizes[2].max(1), sizes[3].max(1)]
}

/// Tile sizes as the command line writes them: `st=4,s0=16,s1=32`.
pub fn text(sizes: &Sizes) -> String {
    let named = ["st", "s0", "s1", "s2"].iter().zip(sizes).filter(|(_, size)| **size > 0);
    named.map(|(name, size)| format!("{name}={size}")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use polyhedral::shipped;
    use std::sync::Arc;

    /// Tables and grids together are the closed forms themselves.
    #[test]
    fn tables_equal_the_closed_forms() {
        for (name, size) in
            [("heat1d", vec![5000]), ("gradient2d", vec![700, 611]), ("heat3d", vec![90, 80, 70])]
        {
            let program = Arc::new(shipped::load(name).unwrap());
            let first = Problem::new(&program, &size, 40).unwrap();
            let other: Vec<i64> = size.iter().map(|n| n + 33).collect();
            let runs = [Run { size, steps: 40 }, Run { size: other.clone(), steps: 77 }];
            for strategy in [Strategy::Hhc, Strategy::Naive] {
                let space = TileSpace::new(strategy, &first, &runs, Limits { bytes: 12 * 1024, warp: 32 });
                let table = space.table(96, ANY);
                assert!(space.len() > 5, "{name} {}", space.len());
                let second = first.with_size(&other, 77);
                for candidate in (0..space.len()).step_by(7) {
                    let sizes = space.sizes[candidate];
                    for entry in 0..table.stride {
                        let direct = match strategy {
                            Strategy::Hhc => {
                                Hexagonal::new(&second, sizes[0], 96, ANY, [None; 3]).counts(blocks(sizes))
                            }
                            Strategy::Naive => Naive::new(&second, 96, ANY).counts(entry, blocks(sizes)),
                        };
                        let grid = space.of_grid(1, candidate, entry, table.stride);
                        assert_eq!(
                            grid.on(&table.counts[candidate * table.stride + entry]),
                            direct,
                            "{name} {sizes:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn sizes_are_written_as_on_the_command_line() {
        assert_eq!(text(&[4, 16, 32, 0]), "st=4,s0=16,s1=32");
        assert_eq!(text(&[0, 8, 32, 0]), "s0=8,s1=32");
    }
}
