//! The names in statements, and what functions of the C library do with what they are given.

use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::nest::math::is_pure;
use crate::parse::Region;
use std::collections::HashSet;

/// Every name in an expression.
pub(super) fn of(expr: &Expr) -> HashSet<String> {
    let mut found = HashSet::new();
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Name(name) => {
            found.insert(name.clone());
        }
        ExprKind::Other(_, text) => {
            found.extend(crate::preprocess::words(text).into_iter().map(str::to_owned));
        }
        _ => {}
    });
    found
}

/// Every name in a statement.
pub(super) fn within(stmt: &Stmt) -> HashSet<String> {
    let mut found = HashSet::new();
    stmt.walk_expressions(&mut |expr| {
        if matches!(expr.kind, ExprKind::Name(_) | ExprKind::Other(..)) {
            found.extend(of(expr));
        }
    });
    stmt.walk(&mut |part| {
        if let StmtKind::Other(_, names) = &part.kind {
            found.extend(names.iter().cloned());
        }
    });
    found
}

/// Whether the evaluation changes nothing, and its value follows from what stands in it.
pub(super) fn only_reads(region: &Region, expr: &Expr) -> bool {
    let mut pure = true;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Assign(..) | ExprKind::Step(..) => pure = false,
        ExprKind::Other(kind, _) => pure &= kind == "sizeof expression",
        ExprKind::Call(function, _) => {
            pure &= matches!(&function.kind, ExprKind::Name(name)
                if is_pure(name) && !region.functions.contains_key(name) && !region.variables.contains_key(name));
        }
        _ => {}
    });
    pure
}

/// The functions that say what time it is.
pub(super) fn is_clock(name: &str) -> bool {
    matches!(name, "clock" | "time" | "omp_get_wtime" | "gettimeofday" | "clock_gettime" | "MPI_Wtime")
}

/// The functions that write what they are given.
pub(super) fn is_output(name: &str) -> bool {
    matches!(name, "printf" | "fprintf" | "puts" | "putchar" | "fputs" | "putc" | "fputc" | "fflush")
}

/// The functions that an expression calls, and that are not known to read their arguments only.
pub(super) fn calls(region: &Region, expr: &Expr) -> Vec<String> {
    let mut found = Vec::new();
    expr.walk(&mut |part| {
        if let ExprKind::Call(function, _) = &part.kind {
            match &function.kind {
                ExprKind::Name(name) if is_pure(name) && !region.functions.contains_key(name) => {}
                ExprKind::Name(name) => found.push(name.clone()),
                _ => found.push(String::new()),
            }
        }
    });
    found
}

/// Whether a statement calls a function that is not known.
pub(super) fn runs_unknown(region: &Region, stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |expr| {
        if matches!(expr.kind, ExprKind::Call(..)) {
            found |= calls_unknown(region, expr);
        }
    });
    stmt.walk(&mut |part| found |= matches!(part.kind, StmtKind::Other(..)));
    found
}

/// Whether an expression calls a function that is not known.
pub(super) fn calls_unknown(region: &Region, expr: &Expr) -> bool {
    let known = |name: &String| is_clock(name) || is_output(name);
    calls(region, expr).iter().any(|name| region.functions.contains_key(name) || !known(name))
}

/// The indices of loops that are not declared there.
pub(super) fn indices(stmt: &Stmt) -> HashSet<String> {
    let mut found = HashSet::new();
    stmt.walk(&mut |part| {
        if let StmtKind::For(source) = &part.kind
            && let Some(StmtKind::Expr(start)) = source.start.as_ref().map(|start| &start.kind)
        {
            start.walk(&mut |expr| {
                if let ExprKind::Assign(_, target, _) = &expr.kind
                    && let ExprKind::Name(name) = &target.kind
                {
                    found.insert(name.clone());
                }
            });
        }
    });
    found
}
