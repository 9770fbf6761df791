//! The hexagon: its shape, its pitch, and which point lies in which tile.
//!
//! Source: Grosser, Cohen, Holewinski, Sadayappan, Verdoolaege, "Hybrid Hexagonal/Classical Tiling for
//! GPUs", CGO 2014. Local coordinates: row `a` (0 .. 2h+1) and column `b`.

use crate::int_expr::IntExpr;
use polyhedral::program::Rational;

/// A hexagonal tile for the dependence cone `-dl*rows <= offset <= du*rows`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hexagon {
    /// Half the height, in logical rows; `h = st - 1`.
    pub half_height: i64,
    /// Width of the flat top and bottom, in points.
    pub flat_top: i64,
    /// Slope of the cone towards lower coordinates.
    pub lower: Rational,
    /// Slope of the cone towards higher coordinates.
    pub upper: Rational,
}

/// After how many rows the fractions of both slopes are what they were.
fn period(lower: Rational, upper: Rational) -> i64 {
    num_integer::lcm(*lower.denom(), *upper.denom())
}

impl Hexagon {
    /// `h = st - 1`
    pub fn h(&self) -> i64 {
        self.half_height - 1
    }

    /// `floor(dl * h)`
    pub fn lower_reach(&self) -> i64 {
        (self.lower * self.h()).floor().to_integer()
    }

    /// `floor(du * h)`
    pub fn upper_reach(&self) -> i64 {
        (self.upper * self.h()).floor().to_integer()
    }

    /// Distance of neighbouring tiles of one phase: `W = 2*s0 + floor(dl*h) + floor(du*h)`.
    pub fn pitch(&self) -> i64 {
        2 * self.flat_top + self.lower_reach() + self.upper_reach()
    }

    /// Shift along `s0` from one phase to the other: `s0 + floor(du*h)`.
    pub fn shift(&self) -> i64 {
        self.flat_top + self.upper_reach()
    }

    /// Number of rows, `2*st`.
    pub fn rows(&self) -> i64 {
        2 * self.half_height
    }

    /// The least flat top for which tiles of one phase are independent. Source row `a` of one tile and target row
    /// `a' > a` of its neighbour, one pitch `W` away on either side, must be farther apart than any
    /// dependence reaches:
    ///
    /// ```text
    /// W + first(a') - last(a) > floor(du * (a' - a))        W + first(a) - last(a') > floor(dl * (a' - a))
    /// ```
    ///
    /// Each unit of `s0` adds two to `W` and one to `last`, so the gap grows with `s0`. For dependences of
    /// one row this is `max(1, floor(max(dl + frac(dl*h), du + frac(du*h))))`, the condition of the paper;
    /// fractional slopes with dependences over several rows may need more.
    pub fn least_flat_top(&self) -> i64 {
        let (h, last_row) = (self.h(), self.rows() - 1);
        let flat = Hexagon { flat_top: 1, ..self.clone() };
        // Away from the widest rows the gap repeats with the period of the slopes' denominators.
        let reach = 3 * period(self.lower, self.upper);
        let near = (h - reach).max(0)..=(h + 1 + reach).min(last_row);
        let rows: Vec<(i64, i64)> = near.map(|a| flat.row(a)).collect();
        let mut least = self.least_flat_top_of_single_rows();
        let pitch = flat.pitch();
        // By the number of rows between two of them.
        let reaches = |slope: Rational| -> Vec<i64> {
            (0..rows.len() as i64).map(|rows| (slope * rows).floor().to_integer()).collect()
        };
        let apart: Vec<(i64, i64)> = reaches(self.upper).into_iter().zip(reaches(self.lower)).collect();
        for (index, &(first, last)) in rows.iter().enumerate() {
            let later = rows[index + 1..].iter().zip(&apart[1..]);
            for (&(later_first, later_last), &(upper, lower)) in later {
                let short = (upper + last - later_first).max(lower + later_last - first) + 1 - pitch;
                least = least.max(flat.flat_top + short);
            }
        }
        least
    }

    /// [`Hexagon::least_flat_top`] for the half heights 1, 2, ..., and the length of the period in which the last of
    /// them repeat for ever.
    ///
    /// A gap depends on `h` by the fractions of `dl*h` and `du*h`, which repeat together with the least common multiple of the
    /// slopes' denominators, once all rows that are looked at lie inside the hexagon.
    pub fn least_flat_tops(lower: Rational, upper: Rational) -> (Vec<i64>, usize) {
        let period = period(lower, upper);
        let all_rows = 3 * period + 1;
        let least = |half_height| Hexagon { half_height, flat_top: 1, lower, upper }.least_flat_top();
        ((1..=all_rows + period).map(least).collect(), usize::try_from(period).unwrap_or(1))
    }

    fn least_flat_top_of_single_rows(&self) -> i64 {
        let need = |slope: Rational| (slope + (slope * self.h()).fract()).floor().to_integer();
        need(self.lower).max(need(self.upper)).max(1)
    }

    /// The upper left edge at row `a`, `dl*a + b >= h*dl - (den(dl)-1)/den(dl)`: the first column of the rows up to the
    /// widest ones. Lines parallel to it cut dimension 0 as the cone allows:
    ///
    /// ```text
    /// ceil(x) - ceil(x - dl*rows) >= floor(dl*rows)
    /// ```
    pub fn upper_left(&self, a: IntExpr) -> IntExpr {
        let (h, dl) = (self.h(), self.lower);
        (IntExpr::from(h * dl.numer() - (dl.denom() - 1)) - a * *dl.numer()).ceil_div(*dl.denom())
    }

    /// The lower left edge at row `a`: `du*a - b <= (2h+1)*du - floor(du*h)`.
    pub fn lower_left(&self, a: IntExpr) -> IntExpr {
        let (h, du) = (self.h(), self.upper);
        (a * *du.numer() + (self.upper_reach() * du.denom() - (2 * h + 1) * du.numer())).ceil_div(*du.denom())
    }

    /// The lower right edge at row `a`: `dl*a + b <= (2h+1)*dl + floor(du*h) + s0 - 1`.
    pub fn lower_right(&self, a: IntExpr) -> IntExpr {
        let (h, dl) = (self.h(), self.lower);
        let top = self.upper_reach() + self.flat_top - 1;
        (IntExpr::from((2 * h + 1) * dl.numer() + top * dl.denom()) - a * *dl.numer()).floor_div(*dl.denom())
    }

    /// The upper right edge at row `a`:
    /// `du*a - b >= h*du - floor(du*h) - (s0-1) - floor(dl*h) - (den(du)-1)/den(du)`.
    pub fn upper_right(&self, a: IntExpr) -> IntExpr {
        let (h, du) = (self.h(), self.upper);
        let top = self.upper_reach() + self.flat_top - 1;
        (a * *du.numer() + ((top + self.lower_reach()) * du.denom() + (du.denom() - 1) - h * du.numer()))
            .floor_div(*du.denom())
    }

    /// First column of row `a`, between the left edges.
    pub fn first_column(&self, a: IntExpr) -> IntExpr {
        self.upper_left(a.clone()).max(self.lower_left(a))
    }

    /// Last column of row `a`, between the right edges.
    pub fn last_column(&self, a: IntExpr) -> IntExpr {
        self.upper_right(a.clone()).min(self.lower_right(a))
    }

    /// First and last column of row `a`.
    pub fn row(&self, a: i64) -> (i64, i64) {
        let value = |expr: IntExpr| expr.constant().unwrap_or_default();
        (value(self.first_column(a.into())), value(self.last_column(a.into())))
    }

    /// First and last column over all rows.
    pub fn extent(&self) -> (i64, i64) {
        (0..self.rows())
            .map(|a| self.row(a))
            .fold((i64::MAX, i64::MIN), |(low, high), (first, last)| (low.min(first), high.max(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::LeastBy;
    use std::collections::HashMap;

    /// Every point of the plane lies in exactly one tile, for the slopes and heights of the design.
    #[test]
    fn hexagons_cover_the_plane_exactly_once() {
        let slopes = [(0, 1), (1, 3), (1, 2), (1, 1), (3, 2), (2, 1)].map(|(n, d)| Rational::new(n, d));
        for lower in slopes {
            for upper in slopes {
                for half_height in [1, 2, 3, 5] {
                    let mut hexagon = Hexagon { half_height, flat_top: 1, lower, upper };
                    hexagon.flat_top = hexagon.least_flat_top();
                    assert_covers_once(&hexagon);
                }
            }
        }
    }

    /// No dependence inside the cone joins two tiles of one launch or leads to an earlier launch, over any
    /// number of rows.
    #[test]
    fn the_least_flat_top_is_enough_for_dependences_over_several_rows() {
        let slopes: Vec<Rational> =
            (1..=4).flat_map(|d| (0..=2 * d).map(move |n| Rational::new(n, d))).collect();
        for &lower in &slopes {
            for &upper in &slopes {
                for half_height in 1..=4 {
                    let mut hexagon = Hexagon { half_height, flat_top: 1, lower, upper };
                    hexagon.flat_top = hexagon.least_flat_top();
                    assert_ordered(&hexagon);
                }
            }
        }
    }

    /// The table of a tile space says what the search over pairs of rows says, for all heights; the larger ones, whose
    /// search takes long, where all is asked for.
    #[test]
    fn the_least_flat_top_repeats_with_the_height() {
        let slopes: Vec<Rational> =
            (1..=4).flat_map(|d| (0..=2 * d).map(move |n| Rational::new(n, d))).collect();
        let most = if std::env::var_os("TILEWRIGHT_ALL").is_some() { 120 } else { 36 };
        for &lower in &slopes {
            for &upper in &slopes {
                let (values, period) = Hexagon::least_flat_tops(lower, upper);
                let table = LeastBy { size: "s0", of: "st", values, period, because: String::new() };
                for half_height in 1..=most {
                    let hexagon = Hexagon { half_height, flat_top: 1, lower, upper };
                    assert_eq!(table.at(half_height), hexagon.least_flat_top(), "{hexagon:?}");
                }
            }
        }
    }

    /// `(band, phase, block)` of every point of a window, and the order of all pairs that the cone allows.
    fn assert_ordered(hexagon: &Hexagon) {
        let (pitch, shift, rows) = (hexagon.pitch(), hexagon.shift(), hexagon.rows());
        let mut tile_of: HashMap<(i64, i64), (i64, i64, i64)> = HashMap::new();
        for (band, phase) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for block in -8..8 {
                let (first_row, phase_shift) =
                    if phase == 0 { (rows * band - hexagon.half_height, shift) } else { (rows * band, 0) };
                let x0 = block * pitch - (-2 * shift * band).rem_euclid(pitch) - phase_shift;
                for a in 0..rows {
                    let (first, last) = hexagon.row(a);
                    tile_of.extend((first..=last).map(|b| ((first_row + a, x0 + b), (band, phase, block))));
                }
            }
        }
        for row in 0..rows {
            for column in 0..pitch {
                let source = tile_of[&(row, column)];
                for later in row + 1..(row + rows).min(2 * rows - hexagon.half_height) {
                    let reach = |slope: Rational| (slope * (later - row)).floor().to_integer();
                    for offset in [-reach(hexagon.lower), reach(hexagon.upper)] {
                        let target = tile_of[&(later, column + offset)];
                        let ordered = source == target || (source.0, source.1) < (target.0, target.1);
                        assert!(ordered, "{hexagon:?}: ({row}, {column}) in {source:?}, later {target:?}");
                    }
                }
            }
        }
    }

    fn assert_covers_once(hexagon: &Hexagon) {
        let (pitch, shift, rows) = (hexagon.pitch(), hexagon.shift(), hexagon.rows());
        let mut covered: HashMap<(i64, i64), u32> = HashMap::new();
        for band in 0..4 {
            for phase in 0..2 {
                let first_row = rows * band - if phase == 0 { hexagon.half_height } else { 0 };
                for block in -20..20 {
                    let x0 = block * pitch
                        - (-2 * shift * band).rem_euclid(pitch)
                        - if phase == 0 { shift } else { 0 };
                    for a in 0..rows {
                        let (first, last) = hexagon.row(a);
                        for b in first..=last {
                            *covered.entry((first_row + a, x0 + b)).or_default() += 1;
                        }
                    }
                }
            }
        }
        for row in 0..3 * rows {
            for column in -5..30 {
                assert_eq!(
                    covered.get(&(row, column)),
                    Some(&1),
                    "{hexagon:?} at row {row}, column {column}"
                );
            }
        }
    }

    #[test]
    fn unit_slopes_give_the_textbook_row_widths() {
        let hexagon = Hexagon { half_height: 3, flat_top: 4, lower: 1.into(), upper: 1.into() };
        let widths: Vec<i64> = (0..6).map(|a| hexagon.row(a).1 - hexagon.row(a).0 + 1).collect();
        assert_eq!(widths, [4, 6, 8, 8, 6, 4]);
        assert_eq!(widths.iter().sum::<i64>(), 2 * 3 * (4 + 3 - 1));
    }
}
