//! Blocks of powers of two points, with tables of their counts per statement.

use super::forms::Blocks;
use super::sizes::SIZES;
use crate::TileSizes;
use crate::counts::candidates::{Candidates, Limits, OfGrid, OnGrid, Run, Sizes};
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;

/// More points per block than this make no difference: a lane has several.
const MOST_POINTS: i64 = 8192;

/// The candidates: sizes are those of a block.
#[derive(Debug)]
pub struct Tables {
    problem: Problem,
    on: Multiprocessor,
    sizes: Vec<Sizes>,
}

impl Tables {
    /// Lists the candidates.
    pub fn new(problem: &Problem, runs: &[Run], limits: Limits, on: &Multiprocessor) -> Self {
        let cover =
            |d: usize| runs.iter().map(|run| run.size.get(d).copied().unwrap_or(1)).max().unwrap_or(1);
        let dimension = problem.dimension();
        let inner = limits.warp;
        let mut sizes = Vec::new();
        let powers = |most: i64| (0..14).map(|e| 1_i64 << e).take_while(move |&n| n < 2 * most);
        for first in powers(if dimension > 1 { cover(0) } else { 1 }) {
            for second in powers(if dimension > 2 { cover(1) } else { 1 }) {
                for innermost in powers((cover(dimension - 1) / inner).max(1)).map(|n| n * inner) {
                    if first * second * innermost <= MOST_POINTS {
                        sizes.push(match dimension {
                            1 => [innermost, 0, 0, 0, 0],
                            2 => [first, innermost, 0, 0, 0],
                            _ => [first, second, innermost, 0, 0],
                        });
                    }
                }
            }
        }
        Tables { problem: problem.clone(), on: on.with_lanes(1), sizes }
    }

    fn all(&self, forms: &Blocks) -> Vec<TileCounts> {
        let of = |&sizes: &Sizes| {
            (0..forms.statements()).map(move |k| TileCounts {
                registers: forms.registers_of_one_point(k),
                ..forms.counts(k, block(sizes))
            })
        };
        self.sizes.iter().flat_map(of).collect()
    }
}

impl Candidates for Tables {
    fn sizes(&self) -> &[Sizes] {
        &self.sizes
    }

    fn classes(&self) -> usize {
        self.problem.program.statements.len()
    }

    fn counts(&self) -> Vec<TileCounts> {
        self.all(&Blocks::new(&self.problem, &self.on))
    }

    fn lane_rounds(&self, candidate: usize, _class: usize, lanes: i64) -> i64 {
        let points = block(self.sizes[candidate]).iter().product::<i64>();
        (points + lanes - 1) / lanes
    }

    fn on_grid(&self, problem: &Problem) -> Box<dyn OnGrid> {
        let counts = self.all(&Blocks::new(problem, &Multiprocessor::ANY));
        Box::new(Grid { classes: self.classes(), entries: counts.iter().map(OfGrid::of).collect() })
    }

    fn face(&self, sizes: &Sizes) -> Option<i64> {
        Some(sizes[0])
    }

    fn tile(&self, sizes: &Sizes) -> TileSizes {
        TileSizes::new(SIZES.into_iter().zip(*sizes).take(self.problem.dimension()))
    }
}

/// A grid: what it adds, class by class.
#[derive(Debug)]
struct Grid {
    classes: usize,
    entries: Vec<OfGrid>,
}

impl OnGrid for Grid {
    #[inline]
    fn of(&self, candidate: usize, class: usize) -> OfGrid {
        self.entries[candidate * self.classes + class]
    }
}

/// Sizes per dimension, 1 where there is no such dimension.
fn block(sizes: Sizes) -> [i64; 3] {
    [sizes[0], sizes[1].max(1), sizes[2].max(1)]
}
