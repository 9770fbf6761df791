//! Whether a step writes all points somewhere: then it takes many times as long as to copy them.

use super::{flat, names};
use crate::ast::{ExprKind, Stmt, StmtKind};
use crate::nest::time::Found;
use crate::parse::Region;

/// Most calls within each other that are followed.
const MOST_CALLS: usize = 4;

/// Whether every step calls an output function of the C library in so many loops within each other, also by way of own
/// functions, of which the statements are given.
pub fn writes_points(
    region: &Region,
    found: &Found<'_>,
    dimension: usize,
    body_of: &dyn Fn(&str) -> Option<Vec<Stmt>>,
) -> bool {
    let search = Search { region, dimension, body_of };
    flat::statements(region, found.body).iter().any(|stmt| search.statement(stmt, 0, 0))
}

struct Search<'a> {
    region: &'a Region,
    dimension: usize,
    body_of: &'a dyn Fn(&str) -> Option<Vec<Stmt>>,
}

impl Search<'_> {
    /// `depth`: the loops around; `calls`: the functions around.
    fn statement(&self, stmt: &Stmt, depth: usize, calls: usize) -> bool {
        let mut found = false;
        match &stmt.kind {
            StmtKind::Block(list) => return list.iter().any(|stmt| self.statement(stmt, depth, calls)),
            StmtKind::For(source) => return self.statement(&source.body, depth + 1, calls),
            StmtKind::If(_, then, Some(otherwise)) => {
                return [then, otherwise].iter().all(|branch| self.statement(branch, depth, calls));
            }
            StmtKind::Expr(expr) => expr.walk(&mut |part| {
                let ExprKind::Call(function, _) = &part.kind else { return };
                let ExprKind::Name(name) = &function.kind else { return };
                let own = self.region.functions.contains_key(name);
                found |= names::is_output(name) && !own && depth >= self.dimension;
                if own && calls < MOST_CALLS {
                    let body = (self.body_of)(name).unwrap_or_default();
                    found |= body.iter().any(|stmt| self.statement(stmt, depth, calls + 1));
                }
            }),
            _ => {}
        }
        found
    }
}
