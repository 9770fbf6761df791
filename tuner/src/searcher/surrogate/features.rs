//! Points as vectors that a surrogate can compare.

use crate::space::{Point, Space};
use trials::Value;
use trials::{Parameter, ParameterKind};

/// Coordinates of every level of every parameter that has a choice.
pub(super) struct Features {
    /// Place of the parameter, and per level its coordinates.
    columns: Vec<(usize, Vec<Vec<f64>>)>,
    width: usize,
}

impl Features {
    /// Ordered levels become one coordinate in 0..=1, on a logarithmic scale where all are positive and the largest is
    /// at least 6 times the least; whole numbers also one for [their alignment](alignment); categorical ones one
    /// coordinate per level.
    pub fn of(space: &Space) -> Features {
        let columns: Vec<(usize, Vec<Vec<f64>>)> = space
            .parameters()
            .iter()
            .enumerate()
            .filter(|(_, parameter)| parameter.len() > 1)
            .map(|(place, parameter)| (place, coordinates(parameter)))
            .collect();
        let width = columns.iter().map(|(_, levels)| levels[0].len()).sum();
        Features { columns, width }
    }

    /// Number of coordinates.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Coordinates of a point.
    pub fn row(&self, point: &Point) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.width);
        for (place, levels) in &self.columns {
            row.extend_from_slice(&levels[point.levels()[*place] as usize]);
        }
        row
    }
}

fn coordinates(parameter: &Parameter) -> Vec<Vec<f64>> {
    let count = parameter.len();
    if parameter.kind() == ParameterKind::Categorical {
        let unit = |own: usize| (0..count).map(|other| if own == other { 0.5 } else { 0.0 }).collect();
        return (0..count).map(unit).collect();
    }
    let mut numbers: Vec<f64> = (0..count).map(|level| parameter.number(level)).collect();
    let (least, most) = (numbers[0], numbers[count - 1]);
    if least > 0.0 && most >= 6.0 * least {
        numbers.iter_mut().for_each(|number| *number = number.ln());
    }
    let (least, most) = (numbers[0], numbers[count - 1]);
    let mut rows: Vec<Vec<f64>> =
        numbers.iter().map(|number| vec![(number - least) / (most - least)]).collect();
    if let Some(alignment) = alignment(parameter) {
        rows.iter_mut().zip(alignment).for_each(|(row, value)| row.push(value));
    }
    rows
}

/// How often 2 divides each level, in 0..=1: what decides about whole warps, vectors and cache lines. Only where it
/// says more than the size does: whole numbers that are not all powers of two, and more than three of them.
fn alignment(parameter: &Parameter) -> Option<Vec<f64>> {
    let whole = |level: usize| match parameter.level(level) {
        Value::Integer(number) => Some(*number),
        _ => None,
    };
    let numbers: Vec<i64> = (0..parameter.len()).map(whole).collect::<Option<_>>()?;
    if numbers.len() <= 3 || numbers.iter().all(|number| number.count_ones() == 1) {
        return None;
    }
    let twos = |number: &i64| if *number == 0 { 0.0 } else { f64::from(number.trailing_zeros()) };
    let twos: Vec<f64> = numbers.iter().map(twos).collect();
    let (least, most) = twos.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &v| (a.min(v), b.max(v)));
    (most > least).then(|| twos.iter().map(|value| (value - least) / (most - least)).collect())
}

/// Squared Euclidean distance.
pub(super) fn squared_distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum()
}
