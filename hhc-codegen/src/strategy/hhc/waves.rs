//! Wavefronts along dimension 0: the rows of `f` time steps of a hexagon, swept together in pieces of `r` points.
//!
//! ```text
//! for pass:                                       f time steps
//!   for c0:                                       pieces, ascending
//!     for m = f*pass ..= f*pass + f-1:            row a = K*m + k, where it lies in
//!       upper_left(a) + r*c0 ..= upper_left(a) + r*c0 + r-1
//! ```
//!
//! Pieces lie between lines parallel to the upper left edge, whose slope is the cone's: whatever a point needs, or waits
//! for, lies in the same piece of an earlier row or in an earlier piece. What a step leaves in the first cache is there for
//! the next one, so that a line moves to and from the second cache once in `f` steps, not once a step.

use super::hexagon::Hexagon;
use super::sizes::{FUSED_STEPS, SPACE_SIZES, WAVE};
use crate::TileSizes;
use crate::geometry::rows_at_once;
use crate::int_expr::{IntExpr, int, var};
use crate::plan::{Loop, Range};
use polyhedral::cone::Cone;
use polyhedral::program::{FieldRole, Program};
use std::fmt;

/// The values of `f` that searches over measurements try.
pub(super) const TRIED_STEPS: &[i64] = &[1, 2, 4, 8];

/// Names of the loops over passes, and over the pieces of one.
const PASS: &str = "pass";
const PIECE: &str = "c0";

/// Bytes that the rows of a piece may fill: a first cache, or a part of a second one where no piece fits the first.
const PIECE_BYTES: [i64; 2] = [48 << 10, 512 << 10];

/// Points that stand for a dimension that is not cut.
const UNCUT_POINTS: i64 = 256;

/// How the rows of a hexagon are swept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waves {
    /// Time steps of a pass.
    pub steps: i64,
    /// Points of a piece along dimension 0.
    pub length: i64,
}

impl Waves {
    /// What the optional sizes of a tile say; `None` where rows are whole, one after the other.
    pub fn of(program: &Program, cone: &Cone, tile: &TileSizes) -> Option<Waves> {
        let steps = tile.get(FUSED_STEPS).unwrap_or(1);
        match tile.get(WAVE).unwrap_or(0) {
            0 if steps == 1 => None,
            0 => Some(Waves { steps, length: length(program, cone, tile, steps) }),
            length => Some(Waves { steps, length }),
        }
    }

    /// The optional sizes of a tile that is swept so.
    pub fn sizes_of(tile: &TileSizes) -> Option<(&str, i64)> {
        tile.iter().find(|(name, value)| match *name {
            FUSED_STEPS => *value != 1,
            WAVE => *value != 0,
            _ => false,
        })
    }

    /// Widths of the pieces of the columns `low .. high` of a row whose upper left edge lies at `edge`.
    pub fn pieces(self, edge: i64, low: i64, high: i64) -> impl Iterator<Item = i64> {
        let piece = move |column: i64| (column - edge).div_euclid(self.length);
        (piece(low)..=piece(high - 1)).map(move |c| {
            let first = edge + c * self.length;
            high.min(first + self.length) - low.max(first)
        })
    }

    /// The loops over passes and pieces, for a hexagon with so many statements in a time step.
    pub fn loops(&self, hexagon: &Hexagon, statements: i64) -> [Loop; 2] {
        let passes = (hexagon.rows() / statements + self.steps - 1) / self.steps;
        let first_row = var(PASS) * (self.steps * statements);
        let last_row = first_row.clone() + (self.steps * statements - 1);
        // From the upper left edge, the left end of a row moves away with each row. So does the right one up to the widest
        // row; then it keeps its distance, but for roundings, which repeat with the slope's denominator.
        let from_edge = |edge: fn(&Hexagon, IntExpr) -> IntExpr, row: IntExpr| {
            let distance = |row: IntExpr| edge(hexagon, row.clone()) - hexagon.upper_left(row);
            match distance(int(0)).constant() {
                // Edges of whole slopes move apart evenly.
                Some(first) if hexagon.lower.is_integer() && hexagon.upper.is_integer() => {
                    row * (hexagon.lower + hexagon.upper).to_integer() + first
                }
                _ => distance(row),
            }
        };
        let left = from_edge(Hexagon::lower_left, first_row);
        let right = from_edge(Hexagon::upper_right, last_row);
        let widest = (0..*hexagon.lower.denom())
            .filter_map(|a| (hexagon.lower_right(int(a)) - hexagon.upper_left(int(a))).constant())
            .max()
            .unwrap_or_default();
        [
            Loop { variable: PASS, low: int(0), high: int(passes - 1) },
            Loop {
                variable: PIECE,
                low: left.floor_div(self.length).max(0),
                high: right.floor_div(self.length).min(widest.div_euclid(self.length)),
            },
        ]
    }

    /// The loop over the time steps of a pass, of a hexagon that has so many.
    pub fn rows(&self, variable: &'static str, steps: i64) -> Loop {
        let first = var(PASS) * self.steps;
        Loop { variable, low: first.clone(), high: (first + (self.steps - 1)).min(steps - 1) }
    }

    /// The columns of row `a` that lie in a piece.
    pub fn columns(&self, hexagon: &Hexagon, a: &IntExpr) -> Range {
        let first = hexagon.upper_left(a.clone()) + var(PIECE) * self.length;
        Range {
            low: hexagon.lower_left(a.clone()).max(first.clone()),
            high: hexagon.last_column(a.clone()).min(first + (self.length - 1)),
        }
    }
}

/// For the readers of generated code: the end of a sentence.
impl fmt::Display for Waves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; {} time steps in one sweep, in pieces of {} along dimension 0", self.steps, self.length)
    }
}

/// The longest piece whose rows, as many as one step of code computes at once, fit a cache with what they read.
fn length(program: &Program, cone: &Cone, tile: &TileSizes, steps: i64) -> i64 {
    let lengths: Vec<i64> = match program.dimension() {
        1 => vec![4096, 2048, 1024, 512, 256],
        _ => {
            let widest = program.statements.iter().map(|statement| rows_at_once(program, statement));
            widest.max_by_key(Vec::len).unwrap_or_default().into_iter().map(|rows| rows as i64).collect()
        }
    };
    let inner = SPACE_SIZES[1..program.dimension()].iter().map(|name| match tile.get(name) {
        None | Some(0) => UNCUT_POINTS,
        Some(points) => points,
    });
    let of_field = program.fields.iter().map(|field| {
        let levels = match field.role {
            FieldRole::State { slots, .. } => slots as i64,
            FieldRole::Coefficient => 1,
        };
        levels * field.element.bytes() as i64
    });
    let row_bytes = inner.fold(of_field.sum::<i64>(), i64::saturating_mul);
    let offsets =
        || program.statements.iter().flat_map(|statement| &statement.reads).map(|read| read.offset[0]);
    let reads = offsets().max().unwrap_or(0).max(0) - offsets().min().unwrap_or(0).min(0);
    let rows = steps.saturating_mul(program.statements.len() as i64);
    let moved = (cone.lower[0] * (rows - 1)).floor().to_integer();
    let fits = |length: i64, bytes: i64| (length + moved + reads).saturating_mul(row_bytes) <= bytes;
    let best = PIECE_BYTES.iter().find_map(|&bytes| lengths.iter().find(|&&length| fits(length, bytes)));
    best.or(lengths.last()).copied().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::int_expr::Environment;
    use polyhedral::program::Rational;

    /// Every column of every row lies in exactly one piece, and a pass begins and ends with pieces that have columns.
    #[test]
    fn pieces_cover_each_row_once_and_none_is_idle_at_the_ends() {
        let slopes = [(0, 1), (1, 3), (1, 2), (1, 1), (3, 2), (2, 1)].map(|(n, d)| Rational::new(n, d));
        for (lower, upper) in slopes.iter().flat_map(|&lower| slopes.map(|upper| (lower, upper))) {
            for (half_height, statements, wider) in [(1, 1, 0), (5, 1, 3), (6, 2, 1), (6, 3, 7)] {
                let mut hexagon = Hexagon { half_height, flat_top: 1, lower, upper };
                hexagon.flat_top = hexagon.least_flat_top() + wider;
                for (steps, length) in [(1, 1), (1, 4), (2, 1), (3, 5), (4, 2), (50, 3)] {
                    check(&hexagon, statements, Waves { steps, length });
                }
            }
        }
    }

    fn check(hexagon: &Hexagon, statements: i64, waves: Waves) {
        let mut environment = Environment::new();
        let [passes, pieces] = waves.loops(hexagon, statements);
        let rows = waves.rows("m", hexagon.rows() / statements);
        let ends = |loops: &Loop, environment: &Environment| {
            let of = |bound: &IntExpr| bound.evaluate(environment).unwrap();
            of(&loops.low)..=of(&loops.high)
        };
        let mut seen = vec![Vec::new(); hexagon.rows() as usize];
        for pass in ends(&passes, &environment) {
            environment.insert(PASS, pass);
            let all = ends(&pieces, &environment);
            for piece in all.clone() {
                environment.insert(PIECE, piece);
                let mut columns = 0;
                for m in ends(&rows, &environment) {
                    for a in m * statements..(m + 1) * statements {
                        let Range { low, high } = waves.columns(hexagon, &int(a));
                        let own = low.evaluate(&environment).unwrap()..=high.evaluate(&environment).unwrap();
                        seen[a as usize].extend(own.clone());
                        columns += own.count();
                    }
                }
                // The last pass may be cut off; edges of broken slopes keep their distance but for roundings.
                let whole = (pass + 1) * waves.steps * statements <= hexagon.rows();
                let exact = whole && hexagon.lower.is_integer();
                let at_end = piece == *all.start() || (piece == *all.end() && exact);
                assert!(
                    columns > 0 || !at_end,
                    "{hexagon:?} {waves:?}: pass {pass}, piece {piece} of {all:?}"
                );
            }
        }
        for (a, seen) in seen.into_iter().enumerate() {
            let (first, last) = hexagon.row(a as i64);
            assert_eq!(seen, (first..=last).collect::<Vec<_>>(), "{hexagon:?} {waves:?}: row {a}");
            let edge = hexagon.upper_left(int(a as i64)).constant().unwrap();
            assert_eq!(waves.pieces(edge, first, last + 1).sum::<i64>(), last - first + 1);
        }
    }
}
