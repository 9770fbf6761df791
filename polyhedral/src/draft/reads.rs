//! What statements read, and where their reads stay on the grid.

use crate::domain::Interval;
use crate::program::{Access, Expr, ExprKind};
use std::collections::HashSet;

/// The points of dimension `d` at which these reads stay on the grid.
pub fn margin(reads: &[Access], d: usize) -> Interval {
    let reach = |sign: i64| reads.iter().map(|read| sign * read.offset[d]).max().unwrap_or(0).max(0);
    Interval::margin(reach(-1), reach(1))
}

/// Every distinct access of some expressions, in order of evaluation.
pub(super) fn distinct_reads<'a>(exprs: impl Iterator<Item = &'a Expr>) -> Vec<Access> {
    let mut seen = HashSet::new();
    let mut reads = Vec::new();
    for expr in exprs {
        expr.walk(|expr| match &expr.kind {
            ExprKind::Read(access) if seen.insert(access) => reads.push(access.clone()),
            _ => {}
        });
    }
    reads
}
