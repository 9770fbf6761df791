//! All tiles that fit a block, with tables of their counts: what half heights and flat tops decide, and what each
//! classical size does, is kept apart, so that another grid needs no new table of all tiles.
//!
//! In one dimension there may be tens of millions. Of flat tops with which the fullest wavefront of each grid has as many tiles, the
//! least one moves and computes least, and fits wherever the others do: it is as fast as they are on any multiprocessor.

use super::forms::Hexagonal;
use super::sizes::{HEIGHT, SPACE_SIZES};
use crate::TileSizes;
use crate::counts::candidates::{Candidates, Limits, OfGrid, OnGrid, Run, Sizes};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::rounds::Rounds;
use crate::counts::tile::TileCounts;
use crate::geometry::MOST_GROUPS;
use std::sync::Arc;

/// Flat tops that are looked at in order to list those that are as fast as any other one: a few seconds.
const MOST_LOOKED_AT: usize = 1 << 27;

/// The candidates: sizes are `st, s0, s1, s2`.
#[derive(Debug)]
pub struct Tables {
    problem: Problem,
    on: Multiprocessor,
    list: Arc<List>,
}

#[derive(Debug, Default)]
struct List {
    sizes: Vec<Sizes>,
    /// Per candidate: index of its height among `heights`.
    height_of: Vec<u32>,
    heights: Vec<i64>,
    /// Flat tops that were looked at in order to list some.
    looked_at: usize,
    /// By height: widths of rows for `s0 = 1`, and how many rows have each.
    widths: Vec<Vec<(i64, i64)>>,
    /// By height, on no multiprocessor in particular.
    forms: Vec<Hexagonal>,
}

impl Tables {
    /// Lists the candidates.
    pub fn new(problem: &Problem, runs: &[Run], limits: Limits, on: &Multiprocessor) -> Self {
        let mut list = List::new(problem, runs, limits, false);
        if list.sizes.len() > limits.tiles && limits.time_alone && problem.dimension() == 1 {
            let fewer = List::new(problem, runs, limits, true);
            list = if fewer.looked_at > MOST_LOOKED_AT { list } else { fewer };
        }
        Tables { problem: problem.clone(), on: on.with_lanes(1), list: Arc::new(list) }
    }
}

impl List {
    /// All tiles; with `fastest`, of flat tops in one dimension that make as full wavefronts on all grids the least one.
    fn new(problem: &Problem, runs: &[Run], limits: Limits, fastest: bool) -> Self {
        let mut list = List::default();
        let dimension = problem.dimension();
        let statements = problem.program.statements.len() as i64;
        // Larger tiles than the grid are no better than those that just cover it.
        let cover =
            |d: usize| runs.iter().map(|run| run.size.get(d).copied().unwrap_or(1)).max().unwrap_or(1);
        let last = runs.iter().map(|run| run.steps).max().unwrap_or(1) * statements;
        // What the back end accepts.
        let last = last.min(MOST_GROUPS * statements / 2).max(statements);
        let warp = |d: usize| if d > 0 && d == dimension - 1 { limits.warp } else { 1 };
        for st in (1..=last / statements).map(|n| n * statements) {
            if list.sizes.len() > limits.tiles || list.looked_at > MOST_LOOKED_AT {
                break;
            }
            let forms = Hexagonal::new(problem, st, &Multiprocessor::ANY, [None; 3]);
            // A sub-tile as long as the skewed dimension needs no second one.
            let skew = |d: usize| match d {
                0 => 0,
                _ => (problem.cone.lower[d] * (2 * st - 1)).floor().to_integer(),
            };
            let reach: Vec<i64> = (0..dimension).map(|d| cover(d) + skew(d)).collect();
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
            let height = list.heights.len() as u32;
            list.heights.push(st);
            list.widths.push(forms.row_widths());
            list.forms.push(forms.clone());
            let grids = runs.iter().filter(|_| fastest).map(|run| {
                let on_grid = problem.with_size(&run.size, run.steps);
                Hexagonal::new(&on_grid, st, &Multiprocessor::ANY, [None; 3])
            });
            let grids: Vec<Hexagonal> = grids.collect();
            let mut before = Vec::new();
            for s0 in (least[0]..=reach[0].max(least[0])).take_while(|&s0| fits([s0, least[1], least[2]])) {
                if list.sizes.len() > limits.tiles {
                    break;
                }
                if fastest {
                    list.looked_at += 1;
                    let tiles: Vec<i64> = grids.iter().map(|forms| forms.tiles_per_wavefront(s0)).collect();
                    if tiles == before {
                        continue;
                    }
                    before = tiles;
                }
                if dimension == 1 {
                    list.push([st, s0, 0, 0, 0], height);
                    continue;
                }
                for s1 in sizes_of(1).take_while(|&s1| fits([s0, s1, least[2]])) {
                    if dimension == 2 {
                        list.push([st, s0, s1, 0, 0], height);
                        continue;
                    }
                    for s2 in sizes_of(2).take_while(|&s2| fits([s0, s1, s2])) {
                        list.push([st, s0, s1, s2, 0], height);
                    }
                }
            }
        }
        list
    }

    fn push(&mut self, sizes: Sizes, height: u32) {
        self.sizes.push(sizes);
        self.height_of.push(height);
    }
}

impl Candidates for Tables {
    fn sizes(&self) -> &[Sizes] {
        &self.list.sizes
    }

    fn classes(&self) -> usize {
        1
    }

    fn counts(&self) -> Vec<TileCounts> {
        let forms: Vec<_> = self.list.forms.iter().map(|forms| forms.on(&self.on)).collect();
        let of = |(sizes, height): (&Sizes, &u32)| {
            let forms = &forms[*height as usize];
            TileCounts { registers: forms.registers_of_one_point(), ..forms.counts(of_dimensions(*sizes)) }
        };
        self.list.sizes.iter().zip(&self.list.height_of).map(of).collect()
    }

    fn lane_rounds(&self, candidate: usize, _class: usize, lanes: i64) -> i64 {
        let [s0, s1, s2] = of_dimensions(self.list.sizes[candidate]);
        let widths = &self.list.widths[self.list.height_of[candidate] as usize];
        let rounds = |&(base, rows): &(i64, i64)| rows * (((base + s0 - 1) * s1 * s2 + lanes - 1) / lanes);
        widths.iter().map(rounds).sum()
    }

    fn all_lane_rounds(&self, lanes: i64) -> Vec<i64> {
        let rounds: Vec<Rounds> = self.list.forms.iter().map(|forms| forms.rounds_of(lanes)).collect();
        let of = |(sizes, height): (&Sizes, &u32)| {
            let [s0, s1, s2] = of_dimensions(*sizes);
            rounds[*height as usize].rounds(s0, s1 * s2)
        };
        self.list.sizes.iter().zip(&self.list.height_of).map(of).collect()
    }

    fn on_grid(&self, problem: &Problem) -> Box<dyn OnGrid> {
        let mut most = vec![Sizes::default(); self.list.heights.len()];
        for (sizes, &height) in self.list.sizes.iter().zip(&self.list.height_of) {
            let most = &mut most[height as usize];
            (0..most.len()).for_each(|d| most[d] = most[d].max(sizes[d]));
        }
        let heights = self.list.heights.iter().zip(&most);
        let heights = heights.map(|(&st, most)| OfHeight::new(problem, st, most)).collect();
        Box::new(Grid { list: self.list.clone(), heights })
    }

    fn face(&self, sizes: &Sizes) -> Option<i64> {
        Some(sizes[0] + sizes[1])
    }

    fn tile(&self, sizes: &Sizes) -> TileSizes {
        let names = std::iter::once(HEIGHT).chain(SPACE_SIZES);
        TileSizes::new(names.zip(*sizes).take(1 + self.problem.dimension()))
    }
}

/// A grid: what each half height adds.
#[derive(Debug)]
struct Grid {
    list: Arc<List>,
    heights: Vec<OfHeight>,
}

#[derive(Debug)]
struct OfHeight {
    wavefronts: i64,
    total_iterations: i64,
    least: i64,
    /// By `s0 - least`: tiles of the fullest wavefront, and of all.
    tiles: Vec<(i64, i64)>,
    /// By size: sub-tiles along each classical dimension.
    sub_tiles: [Vec<i64>; 2],
}

impl OfHeight {
    /// For all sizes up to `most`.
    fn new(problem: &Problem, st: i64, most: &Sizes) -> Self {
        let forms = Hexagonal::new(problem, st, &Multiprocessor::ANY, [None; 3]);
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
    }
}

impl OnGrid for Grid {
    #[inline]
    fn of(&self, candidate: usize, _class: usize) -> OfGrid {
        let [_, s0, s1, s2, _] = self.list.sizes[candidate];
        let height = &self.heights[self.list.height_of[candidate] as usize];
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

/// Sizes per dimension, 1 where there is no such dimension.
fn of_dimensions(sizes: Sizes) -> [i64; 3] {
    [sizes[1], sizes[2].max(1), sizes[3].max(1)]
}
