//! Where tiles are full: what they must keep from the ends of the grid.

use super::SIZE_NAMES;
use crate::int_expr::{IntExpr, int, var};
use polyhedral::domain::{Bound, GridEnd};
use polyhedral::program::Program;

/// A bound of a domain in dimension `d`.
pub fn bound(bound: Bound, d: usize) -> IntExpr {
    match bound.from {
        GridEnd::Start => int(bound.offset),
        GridEnd::End => var(SIZE_NAMES[d]) + bound.offset,
    }
}

/// What tiles must keep from the ends of the grid to be full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTiles {
    /// Per statement, whether it runs in full tiles: its domain grows with the grid in all dimensions that are
    /// cut.
    pub runs: Vec<bool>,
    /// Per dimension, how far from the start of the grid: there, all domains of statements that run have begun,
    /// and the others have ended.
    pub low: Vec<i64>,
    /// Per dimension, how far from the end of the grid.
    pub high: Vec<i64>,
}

impl FullTiles {
    /// The rule. `cut` says which dimensions are cut into tiles; in the others, ranges are whole domains.
    pub fn new(program: &Program, cut: &[bool]) -> Self {
        let dimension = program.dimension();
        let mut full = FullTiles { runs: Vec::new(), low: vec![0; dimension], high: vec![0; dimension] };
        for statement in &program.statements {
            let thin = (0..dimension).find(|&d| cut[d] && !statement.domain[d].is_wide());
            full.runs.push(thin.is_none());
            for (d, interval) in statement.domain.iter().enumerate() {
                let (low, high) = match thin {
                    None => (interval.low, interval.high),
                    // Beyond the domain: after one at the start of the grid, before one at its end.
                    Some(thin) if thin == d => (interval.high, interval.low),
                    Some(_) => continue,
                };
                if low.from == GridEnd::Start {
                    full.low[d] = full.low[d].max(low.offset);
                }
                if high.from == GridEnd::End {
                    full.high[d] = full.high[d].max(-high.offset);
                }
            }
        }
        full
    }
}

/// Bounds, in dimension `d`, of all domains of a program on all grids on which it computes something: the first
/// point, and how far before the end of the grid the last one is followed.
pub fn hull(program: &Program, d: usize) -> (i64, i64) {
    let least = program.least_size[d];
    let lows = program.statements.iter().map(|statement| match statement.domain[d].low {
        Bound { from: GridEnd::Start, offset } => offset,
        Bound { from: GridEnd::End, offset } => (least + offset).max(0),
    });
    let highs = program.statements.iter().map(|statement| match statement.domain[d].high {
        Bound { from: GridEnd::Start, offset } => (least - offset).max(0),
        Bound { from: GridEnd::End, offset } => -offset,
    });
    (lows.min().unwrap_or(0), highs.min().unwrap_or(0))
}
