//! The shape of a diamond, and where its points, its pieces and its wavefronts lie.
//!
//! With `x0 = a*w - p*h*n` for the diamond at place `a` of wavefront `n`, and the step `t = n*h + m`,
//!
//! ```text
//! 0 <= y - a*w < w   is   -p*m - up_k  <=  s_0 - x0  <=  w - 1 - p*m - up_k
//! 0 <= z - b*w < w   is   q*m + down_k - (w - 1)  <=  s_0 - x0  <=  q*m + down_k
//! ```
//!
//! so that all diamonds have one shape. Their sum, `0 <= (p + q)*m + up_k + down_k <= 2*w - 2`, bounds `m`.

use super::sizes::SIZES;
use crate::TileSizes;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Binding, FullTiles, Instance, Loop, Range, SIZE_NAMES, bound, hull};
use crate::strategy::pieces::Closed;
use crate::strategy::skew::{self, Direction, Skew};
use polyhedral::cone::Cone;
use polyhedral::program::Program;

/// The number of a wavefront.
pub(super) const WAVEFRONT: &str = "n";
/// The place of a diamond in it.
const PLACE: &str = "b0";
/// A step, counted from that of the wavefront.
const ROW: &str = "m";
/// The step that it is counted from.
const FIRST: &str = "t0";
/// The point that columns are counted from.
const COLUMN: &str = "x0";
/// The pieces of the other dimensions.
const PIECES: [&str; 3] = ["", "c1", "c2"];

/// The slopes of a program: the skews of `y` and of `z`.
type Slopes = [Skew; 2];

/// A shape.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// `p`, `q`.
    slopes: (i64, i64),
    /// `up_k`, `down_k`, by statement.
    shifts: Vec<(i64, i64)>,
    /// `h`, in steps.
    half_height: i64,
    /// The skews of the other dimensions; the first one is unused.
    skews: Vec<Skew>,
    /// The lengths of pieces; 0 where a dimension is not cut. The first one is unused.
    lengths: Vec<i64>,
}

impl Shape {
    /// The least slopes, of which one is positive: else diamonds would not end.
    ///
    /// # Errors
    /// Why there are none, as half a sentence.
    pub(super) fn slopes(program: &Program, cone: &Cone) -> Result<Slopes, String> {
        let along = |direction| skew::skew(program, cone, 0, direction);
        let [mut up, mut down] = [along(Direction::Up)?, along(Direction::Down)?];
        if up.step + down.step == 0 {
            (up.step, down.step) = (1, 1);
        }
        Ok([up, down])
    }

    /// The shape for sizes that lie in the space.
    ///
    /// # Errors
    /// Those of [`Shape::slopes`].
    pub(super) fn new(program: &Program, cone: &Cone, tile: &TileSizes) -> Result<Shape, String> {
        let [up, down] = Self::slopes(program, cone)?;
        let rows = tile.get(SIZES[0]).unwrap_or(1);
        let lengths = SIZES[1..program.dimension()].iter().map(|name| tile.get(name).unwrap_or(0));
        Ok(Shape {
            slopes: (up.step, down.step),
            shifts: up.shifts.into_iter().zip(down.shifts).collect(),
            half_height: (rows / program.statements.len() as i64).max(1),
            skews: skew::skews(program, cone)?,
            lengths: [0].into_iter().chain(lengths).collect(),
        })
    }

    /// `p + q`: after so many wavefronts, diamonds lie at the same points.
    pub(super) fn period(&self) -> i64 {
        self.slopes.0 + self.slopes.1
    }

    /// `w`
    pub(super) fn width(&self) -> i64 {
        self.half_height * self.period()
    }

    /// The steps `m` of a statement.
    pub(super) fn steps_of(&self, statement: usize) -> Closed {
        let (up, down) = self.shifts[statement];
        let (sum, period) = (up + down, self.period());
        (-sum.div_euclid(period), (2 * self.width() - 2 - sum).div_euclid(period))
    }

    /// The steps `m` of all statements.
    pub(super) fn steps(&self) -> Closed {
        let all = (0..self.shifts.len()).map(|k| self.steps_of(k));
        all.fold((i64::MAX, i64::MIN), |(least, most), (low, high)| (least.min(low), most.max(high)))
    }

    /// The columns of a statement, counted from `x0`, over `m`.
    fn range(&self, statement: usize, m: &IntExpr) -> Range {
        let ((p, q), (up, down), last) = (self.slopes, self.shifts[statement], self.width() - 1);
        let fall = |from: i64| int(from) - m.clone() * p;
        let rise = |from: i64| m.clone() * q + from;
        Range { low: fall(-up).max(rise(down - last)), high: fall(last - up).min(rise(down)) }
    }

    /// The same at one step.
    pub(super) fn columns_of(&self, statement: usize, m: i64) -> Closed {
        let Range { low, high } = self.range(statement, &int(m));
        (low.constant().unwrap_or(0), high.constant().unwrap_or(-1))
    }

    /// The columns of all rows.
    pub(super) fn columns(&self) -> Closed {
        let rows = |k: usize| {
            let (first, last) = self.steps_of(k);
            (first..=last).map(move |m| (k, m))
        };
        let all = (0..self.shifts.len()).flat_map(rows).map(|(k, m)| self.columns_of(k, m));
        all.fold((i64::MAX, i64::MIN), |(least, most), (low, high)| (least.min(low), most.max(high)))
    }

    /// Points of a diamond, of one statement: each lies at a whole step.
    pub(super) fn points(&self) -> i64 {
        let (first, last) = self.steps_of(0);
        (first..=last).map(|m| self.columns_of(0, m)).map(|(low, high)| high - low + 1).sum()
    }

    /// `x0` of the diamond at place 0 of a wavefront.
    pub(super) fn origin(&self, wavefront: i64) -> i64 {
        -self.slopes.0 * self.half_height * wavefront
    }

    /// The step `t` at `m = 0`.
    pub(super) fn first_step(&self, wavefront: i64) -> i64 {
        self.half_height * wavefront
    }

    /// The length of the pieces of a dimension; 0 where it is not cut.
    pub(super) fn length(&self, d: usize) -> i64 {
        self.lengths[d]
    }

    /// The points of piece 0 of a dimension at step `m`, of a statement.
    pub(super) fn piece(&self, statement: usize, d: usize, m: i64) -> Closed {
        let first = -self.skews[d].step * (m - self.steps().0) - self.skews[d].shifts[statement];
        (first, first + self.lengths[d] - 1)
    }

    /// How far the pieces of a dimension lie further back in the last row than in the first one, and the least and the
    /// largest shift.
    pub(super) fn moved(&self, d: usize) -> (i64, Closed) {
        let Skew { step, shifts, .. } = &self.skews[d];
        let (first, last) = self.steps();
        let ends = (shifts.iter().min().copied().unwrap_or(0), shifts.iter().max().copied().unwrap_or(0));
        (step * (last - first), ends)
    }

    /// Points of the box around a piece of a diamond, where the other dimensions are cut.
    pub(super) fn points_touched(&self) -> i64 {
        let (first, last) = self.columns();
        let along = |d: usize| {
            let (moved, (least, most)) = self.moved(d);
            self.lengths[d] + moved + most - least
        };
        self.cut().map(along).fold(last - first + 1, i64::saturating_mul)
    }

    fn cut(&self) -> impl Iterator<Item = usize> + '_ {
        (1..self.lengths.len()).filter(|&d| self.lengths[d] > 0)
    }

    /// The host's loop: wavefronts with a step that exists.
    pub(super) fn wavefronts(&self) -> Loop {
        let (first, last) = self.steps();
        Loop {
            variable: WAVEFRONT,
            low: int(-last).ceil_div(self.half_height),
            high: (var("steps") - (1 + first)).floor_div(self.half_height),
        }
    }

    /// The diamonds of a wavefront that have a column in the grid.
    pub(super) fn places(&self, program: &Program) -> Loop {
        let ((low, high), (first, last)) = (hull(program, 0), self.columns());
        let moved = var(WAVEFRONT) * (self.slopes.0 * self.half_height);
        Loop {
            variable: PLACE,
            low: (moved.clone() + (low - last)).ceil_div(self.width()),
            high: (var(SIZE_NAMES[0]) + moved - (1 + high + first)).floor_div(self.width()),
        }
    }

    pub(super) fn bindings(&self) -> Vec<Binding> {
        let origin = var(PLACE) * self.width() - var(WAVEFRONT) * (self.slopes.0 * self.half_height);
        vec![
            Binding {
                name: FIRST,
                value: var(WAVEFRONT) * self.half_height,
                comment: "time step of row 0".to_owned(),
            },
            Binding { name: COLUMN, value: origin, comment: "coordinate of column 0".to_owned() },
        ]
    }

    /// The loops over the pieces of the other dimensions.
    pub(super) fn pieces(&self, program: &Program) -> Vec<Loop> {
        let pieces = |d: usize| {
            let ((low, high), (moved, (least, most))) = (hull(program, d), self.moved(d));
            Loop {
                variable: PIECES[d],
                low: int(low + least).floor_div(self.lengths[d]),
                high: (var(SIZE_NAMES[d]) + (moved + most - 1 - high)).floor_div(self.lengths[d]),
            }
        };
        self.cut().map(pieces).collect()
    }

    pub(super) fn rows(&self) -> Loop {
        let (first, last) = self.steps();
        Loop { variable: ROW, low: int(first), high: int(last) }
    }

    /// The rows of one step.
    pub(super) fn instances(&self, program: &Program) -> Vec<Instance> {
        let runs = FullTiles::new(program, &self.is_cut()).runs;
        let instance = |k: usize| {
            let columns = self.range(k, &var(ROW));
            let mut ranges = vec![Range { low: var(COLUMN) + columns.low, high: var(COLUMN) + columns.high }];
            for (d, interval) in program.statements[k].domain.iter().enumerate().skip(1) {
                ranges.push(match self.lengths[d] {
                    0 => Range { low: bound(interval.low, d), high: bound(interval.high, d) - 1 },
                    length => {
                        let Skew { step, shifts, .. } = &self.skews[d];
                        let low =
                            var(PIECES[d]) * length - var(ROW) * *step + (self.steps().0 * step - shifts[k]);
                        Range { low: low.clone(), high: low + (length - 1) }
                    }
                });
            }
            Instance::in_arrays(program, k, var(FIRST) + var(ROW), ranges, runs[k])
        };
        (0..program.statements.len()).map(instance).collect()
    }

    fn is_cut(&self) -> Vec<bool> {
        (0..self.lengths.len()).map(|d| d == 0 || self.lengths[d] > 0).collect()
    }

    pub(super) fn full_when(&self, program: &Program) -> Vec<IntExpr> {
        let full = FullTiles::new(program, &self.is_cut());
        let ((first, last), (left, right)) = (self.steps(), self.columns());
        let mut conditions = vec![
            var(FIRST) + first,
            var("steps") - 1 - (var(FIRST) + last),
            var(COLUMN) + (left - full.low[0]),
            var(SIZE_NAMES[0]) - (var(COLUMN) + (right + 1 + full.high[0])),
        ];
        for d in self.cut() {
            let ((moved, (least, most)), length) = (self.moved(d), self.lengths[d]);
            conditions.push(var(PIECES[d]) * length - (moved + most + full.low[d]));
            conditions.push(var(SIZE_NAMES[d]) - (var(PIECES[d]) * length + (length - least + full.high[d])));
        }
        conditions
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::collections::BTreeMap;

    /// Every point of time and space lies in one diamond, whose wavefront is none that a dependence leads back from.
    #[test]
    fn diamonds_cover_the_plane_once() {
        for name in ["heat1d", "star2d3r", "asym2d", "fdtd2d", "wave2d", "skewed2d"] {
            let program = polyhedral::shipped::load(name).unwrap();
            let cone = polyhedral::analysis::analyze(&program).unwrap().cone;
            let statements = program.statements.len();
            for steps in [1, 2, 5] {
                let tile = TileSizes::new([("st", steps * statements as i64)]);
                let shape = Shape::new(&program, &cone, &tile).unwrap();
                let mut place: BTreeMap<(i64, usize, i64), (i64, i64)> = BTreeMap::new();
                for wavefront in -8..20 {
                    for at in -60..60 {
                        for k in 0..statements {
                            let (first, last) = shape.steps_of(k);
                            for m in first..=last {
                                let x0 = at * shape.width() + shape.origin(wavefront);
                                let (low, high) = shape.columns_of(k, m);
                                assert!(low <= high, "{name}: row {m} of {shape:?} is empty");
                                for column in low..=high {
                                    let point = (shape.first_step(wavefront) + m, k, x0 + column);
                                    assert_eq!(
                                        place.insert(point, (wavefront, at)),
                                        None,
                                        "{name} {point:?}"
                                    );
                                }
                            }
                        }
                    }
                }
                for step in 3..12 {
                    for s in -9..30 {
                        for dependence in &cone.dependences {
                            let source = place[&(step, dependence.source, s)];
                            let later = step + dependence.steps(statements);
                            let target = place[&(later, dependence.target, s + dependence.offset[0])];
                            assert!(source == target || source.0 < target.0, "{name}: {dependence}");
                        }
                    }
                }
            }
        }
    }
}
