//! Maxima and sums of rows, merged behind each row: `if (row > m) m = row;`.
//!
//! ```text
//! m = 0;  for (i) { row = 0;  for (j) if (d > row) row = d;  if (row > m) m = row; }
//! ```
//!
//! What a row holds is no less than the `d` of any of its points, nor is `m` less than what the row holds: so `m` is no less than
//! each `d`, as if there were no rows. The same holds where rows are sums of what is not negative.

use crate::ast::{CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind};
use crate::nest::scalars::assigned_within;
use crate::parse::Region;

/// A maximum, or a sum of what is not negative: where it is computed, and of what.
#[derive(Clone)]
pub(super) struct Maximum<'a> {
    pub name: String,
    pub sum: bool,
    /// Whether a value that is no number may take the place of a number.
    pub spoilt: bool,
    /// Whether `fmaxf` takes the largest so far as a `float`.
    pub single: bool,
    pub at: usize,
    pub statement: &'a Stmt,
    pub loops: Vec<&'a ForLoop>,
    pub value: &'a Expr,
    /// Those before it, of the same scalar: where they are computed, and of what.
    pub before: Vec<(usize, &'a Stmt, &'a Expr)>,
}

/// What finds the maximum that a name holds behind statements.
type Find = for<'a> fn(&Region, &[&'a Stmt], &str, usize) -> Option<Maximum<'a>>;

/// Most names that one value goes through.
const MOST_NAMES: usize = 8;

/// The maximum over the points of rows, of one whose value is a row's; `before`: the statements of the row before it.
pub(super) fn taken_apart<'a>(
    region: &Region,
    before: &'a [Stmt],
    outer: &Maximum<'a>,
    maximum: Find,
) -> Option<Maximum<'a>> {
    let mut list = Vec::new();
    flattened(before, &mut list);
    let found = of_parts(region, list, outer, maximum)?;
    let before = found.before.into_iter().map(|(_, stmt, value)| (outer.at, stmt, value)).collect();
    Some(Maximum { at: outer.at, before, ..found })
}

/// The same of one whose value is that of a part of the points, computed by loops before it: `m += part;`. Its place is theirs.
pub(super) fn of_parts<'a>(
    region: &Region,
    mut list: Vec<&'a Stmt>,
    outer: &Maximum<'a>,
    maximum: Find,
) -> Option<Maximum<'a>> {
    let mut name = name_of(outer.value, None)?;
    let kind = ctype(region, &list, name)?;
    // What a `float` holds of a row may be less than what a `double` is compared with.
    if *kind != CType::Floating(Floating::Double) && ctype(region, &[], &outer.name)? != kind {
        return None;
    }
    name = name_of(outer.value, Some(kind))?;
    for _ in 0..MOST_NAMES {
        if ctype(region, &list, name)? != kind {
            return None;
        }
        if let Some(row) = maximum(region, &list, name, 0) {
            return (row.sum || !outer.sum).then(|| Maximum {
                name: outer.name.clone(),
                sum: outer.sum || row.sum,
                spoilt: outer.spoilt || row.spoilt,
                single: outer.single || row.single,
                at: row.at,
                statement: row.statement,
                loops: outer.loops.iter().chain(&row.loops).copied().collect(),
                value: row.value,
                before: row.before,
            });
        }
        // `m = row;`, of a function that returns a row's.
        let last = list.iter().rposition(|stmt| assigns(stmt, name))?;
        name = name_of(held(list[last], name)?, Some(kind))?;
        list.truncate(last);
    }
    None
}

/// The name that a value is, converted to a type or not: to one, if it is given.
fn name_of<'a>(value: &'a Expr, kind: Option<&CType>) -> Option<&'a str> {
    match &value.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Cast(to, inner) if kind.is_none_or(|kind| to == kind) => name_of(inner, kind),
        _ => None,
    }
}

/// The value that a statement, and nothing else, gives to a name.
fn held<'a>(stmt: &'a Stmt, name: &str) -> Option<&'a Expr> {
    match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
            matches!(&target.kind, ExprKind::Name(own) if own == name).then_some(value)
        }
        StmtKind::Declaration(list) => list.iter().find(|one| one.name == name)?.value.as_ref(),
        _ => None,
    }
}

fn assigns(stmt: &Stmt, name: &str) -> bool {
    declares(stmt, name).is_some() || assigned_within(stmt).iter().any(|(own, _)| own == name)
}

/// The statements of blocks, and of blocks in them.
fn flattened<'a>(list: &'a [Stmt], found: &mut Vec<&'a Stmt>) {
    for stmt in list {
        match &stmt.kind {
            StmtKind::Block(inner) => flattened(inner, found),
            _ => found.push(stmt),
        }
    }
}

fn declares<'a>(stmt: &'a Stmt, name: &str) -> Option<&'a CType> {
    let StmtKind::Declaration(list) = &stmt.kind else { return None };
    list.iter().find(|one| one.name == name).map(|one| &one.ctype)
}

/// The type of a scalar.
fn ctype<'a>(region: &'a Region, list: &[&'a Stmt], name: &str) -> Option<&'a CType> {
    let own = list.iter().rev().find_map(|stmt| declares(stmt, name));
    let found = own.or_else(|| region.variables.get(name).map(|one| &one.ctype))?;
    matches!(found, CType::Floating(_)).then_some(found)
}
