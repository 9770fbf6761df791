//! Where tiles lie: boxes of skewed coordinates, and the diagonals on which they run at once.

use crate::TileSizes;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, Loop, Range, SIZE_NAMES, bound, hull};
use crate::strategy::skew::Skew;
use polyhedral::program::Program;

/// Names of the tile sizes.
pub(super) const SIZES: [&str; 4] = ["st", "s0", "s1", "s2"];
/// The number of a diagonal.
const DIAGONAL: &str = "w";
/// The coordinates of a tile: that of time, then those of the dimensions that are cut.
const TILE: [&str; 4] = ["b0", "b1", "b2", "c1"];
/// A time step.
pub(super) const STEP: &str = "step";

/// The tiles of a program.
pub(super) struct Tiles<'a> {
    pub(super) program: &'a Program,
    pub(super) skews: Vec<Skew>,
    /// Time steps of a tile.
    pub(super) steps: i64,
    /// Points per dimension; 0 where it is not cut.
    pub(super) sizes: Vec<i64>,
}

impl<'a> Tiles<'a> {
    pub(super) fn new(program: &'a Program, skews: Vec<Skew>, tile: &TileSizes) -> Self {
        let value = |name| tile.get(name).unwrap_or(1);
        Tiles {
            program,
            skews,
            steps: (value(SIZES[0]) / program.statements.len() as i64).max(1),
            sizes: SIZES[1..=program.dimension()].iter().map(|name| value(name)).collect(),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        self.sizes.len()
    }

    /// Which dimensions are cut.
    pub(super) fn cut(&self) -> Vec<bool> {
        self.sizes.iter().map(|&size| size > 0).collect()
    }

    fn cut_dimensions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dimension()).filter(|&d| self.sizes[d] > 0)
    }

    /// The first coordinate of the tile in a dimension that is cut.
    pub(super) fn corner(&self, d: usize) -> IntExpr {
        let before = self.cut_dimensions().take_while(|&other| other < d).count();
        var(TILE[1 + before]) * self.sizes[d]
    }

    /// The least and the largest coordinate of all points, as far as they do not depend on the time step.
    pub(super) fn span(&self, d: usize) -> (IntExpr, IntExpr) {
        let Skew { shifts, cross, .. } = &self.skews[d];
        let (least, most) = (shifts.iter().min().unwrap_or(&0), shifts.iter().max().unwrap_or(&0));
        let ends = |d: usize| {
            let (first, end) = hull(self.program, d);
            (int(first), var(SIZE_NAMES[d]) - (end + 1))
        };
        let (low, high) = ends(d);
        let crossed = cross.iter().enumerate().filter(|(_, factor)| **factor != 0);
        crossed.fold((low + *least, high + *most), |(low, high), (e, &factor)| {
            let own = ends(e);
            (low + own.0 * factor, high + own.1 * factor)
        })
    }

    /// First and last coordinate of a tile, per coordinate of tiles.
    fn ends(&self) -> Vec<(IntExpr, IntExpr)> {
        let last_step = var("steps") - 1;
        let time = (int(0), last_step.clone().floor_div(self.steps));
        let of = |d: usize| {
            let (low, high) = self.span(d);
            let high = high + last_step.clone() * self.skews[d].step;
            (low.floor_div(self.sizes[d]), high.floor_div(self.sizes[d]))
        };
        [time].into_iter().chain(self.cut_dimensions().map(of)).collect()
    }

    /// The host's loop.
    pub(super) fn diagonals(&self) -> Loop {
        let ends = self.ends();
        let sum = |own: fn(&(IntExpr, IntExpr)) -> &IntExpr| {
            ends.iter().map(own).cloned().reduce(|sum, end| sum + end).unwrap_or(int(0))
        };
        Loop { variable: DIAGONAL, low: sum(|ends| &ends.0), high: sum(|ends| &ends.1) }
    }

    /// The tiles of a diagonal: loops over all coordinates but the last one.
    pub(super) fn blocks(&self) -> Vec<Loop> {
        let mut ends = self.ends();
        ends.pop();
        let block = |(at, (low, high)): (usize, (IntExpr, IntExpr))| Loop { variable: TILE[at], low, high };
        ends.into_iter().enumerate().map(block).collect()
    }

    /// The last coordinate.
    pub(super) fn bindings(&self) -> Vec<Binding> {
        let last = self.cut_dimensions().count();
        let value = TILE[..last].iter().fold(var(DIAGONAL), |rest, name| rest - var(name));
        vec![Binding { name: TILE[last], value, comment: "the tile of this diagonal".to_owned() }]
    }

    /// The first step of a tile.
    pub(super) fn first_step(&self) -> IntExpr {
        var(TILE[0]) * self.steps
    }

    /// The time steps in which the tile has points.
    pub(super) fn time(&self) -> Loop {
        let first = self.first_step();
        let mut time = Loop {
            variable: STEP,
            low: first.clone(),
            high: (first + (self.steps - 1)).min(var("steps") - 1),
        };
        for d in self.cut_dimensions().filter(|&d| self.skews[d].step > 0) {
            // corner <= most + skew*step, corner + size - 1 >= least + skew*step
            let (least, most) = self.span(d);
            let (skew, corner) = (self.skews[d].step, self.corner(d));
            time.low = time.low.max((corner.clone() - most).ceil_div(skew));
            time.high = time.high.min((corner + (self.sizes[d] - 1) - least).floor_div(skew));
        }
        time
    }

    /// The points of a statement in dimension `d` whose coordinates lie in the tile; `before` are the coordinates of the
    /// point in the dimensions before.
    pub(super) fn range(&self, statement: usize, d: usize, before: &[IntExpr]) -> Range {
        let domain = self.program.statements[statement].domain[d];
        match self.sizes[d] {
            0 => Range { low: bound(domain.low, d), high: bound(domain.high, d) - 1 },
            size => {
                let low = self.point(statement, d, self.corner(d), before);
                Range { low: low.clone(), high: low + (size - 1) }
            }
        }
    }

    /// The point at this coordinate.
    pub(super) fn point(
        &self,
        statement: usize,
        d: usize,
        coordinate: IntExpr,
        before: &[IntExpr],
    ) -> IntExpr {
        let Skew { step, shifts, cross } = &self.skews[d];
        let skewed = match step {
            0 => coordinate,
            step => coordinate - var(STEP) * *step,
        };
        let shifted = if shifts[statement] == 0 { skewed } else { skewed - shifts[statement] };
        let crossed = before.iter().zip(cross).filter(|(_, factor)| **factor != 0);
        crossed.fold(shifted, |rest, (point, &factor)| rest - point.clone() * factor)
    }
}
