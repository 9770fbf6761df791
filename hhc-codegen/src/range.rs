//! Intervals of points, of which boxes are made.

use crate::int_expr::IntExpr;

/// A closed interval of one space dimension, before clipping.
#[derive(Debug, Clone)]
pub struct Range {
    /// First point.
    pub low: IntExpr,
    /// Last point.
    pub high: IntExpr,
}
