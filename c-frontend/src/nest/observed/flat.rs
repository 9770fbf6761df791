//! The body of a time loop statement by statement: what calls have become are blocks, of which each statement is of its own
//! kind.

use super::names;
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::nest::scalars::{assigned, assigned_within, declared};
use crate::parse::Region;
use std::collections::HashSet;

/// The statements of a body: blocks whose names are their own are taken apart, and integers that hold the same in each step
/// stand for their values.
pub(super) fn statements(region: &Region, body: &Stmt) -> Vec<Stmt> {
    let list = match &body.kind {
        StmtKind::Block(list) => list,
        _ => std::slice::from_ref(body),
    };
    let mut found = Vec::new();
    let mut within = HashSet::new();
    flatten(region, list, false, &mut found, &mut within);
    let mut at = 0;
    while at < found.len() {
        let values = fixed(region, &found, at);
        for (name, value) in &values {
            for stmt in &mut found[at + 1..] {
                stmt.walk_expressions_mut(&mut |part| {
                    if matches!(&part.kind, ExprKind::Name(own) if own == name) {
                        part.kind = value.clone();
                    }
                });
            }
        }
        // Those of the program's own text stay there.
        let own = |name: &String| within.contains(name);
        if let StmtKind::Declaration(variables) = &found[at].kind
            && !values.is_empty()
            && variables.iter().all(|one| values.iter().any(|(name, _)| *name == one.name) && own(&one.name))
        {
            found.remove(at);
        } else {
            at += 1;
        }
    }
    found
}

fn flatten(region: &Region, list: &[Stmt], inner: bool, found: &mut Vec<Stmt>, within: &mut HashSet<String>) {
    for (at, stmt) in list.iter().enumerate() {
        let others = || list.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, stmt)| stmt);
        match &stmt.kind {
            StmtKind::Block(own) if is_alone(region, own, others()) => {
                let before = found.len();
                flatten(region, own, true, found, within);
                // All of them have the place of the one that they were.
                found[before..].iter_mut().for_each(|one| one.span = stmt.span.clone());
            }
            _ => {
                if inner {
                    within.extend(declared(std::slice::from_ref(stmt)));
                }
                found.push(stmt.clone());
            }
        }
    }
}

/// Whether nothing else has the names that a block declares.
pub(super) fn is_alone<'s>(
    region: &Region,
    block: &[Stmt],
    mut others: impl Iterator<Item = &'s Stmt>,
) -> bool {
    let own = declared(block);
    own.iter().all(|name| !region.variables.contains_key(name))
        && others.all(|other| {
            names::within(other).is_disjoint(&own) && declared(std::slice::from_ref(other)).is_disjoint(&own)
        })
}

/// The integers that a statement declares and that nothing in the body changes, with their values.
fn fixed(region: &Region, list: &[Stmt], at: usize) -> Vec<(String, ExprKind)> {
    let StmtKind::Declaration(variables) = &list[at].kind else { return Vec::new() };
    let mut changed: HashSet<String> = declared(list);
    for stmt in list {
        changed.extend(assigned_within(stmt).into_iter().map(|(name, _)| name));
        changed.extend(assigned(stmt).0);
        changed.extend(names::indices(stmt));
    }
    let calls = list.iter().any(|stmt| names::runs_unknown(region, stmt));
    let seen = |name: &String| {
        region.variables.get(name).is_some_and(|one| one.global && !one.constant)
            || region.addressed.contains(name)
    };
    let plain = |value: &Expr| {
        let names = names::of(value);
        let mut plain = names::only_reads(region, value) && names.is_disjoint(&changed);
        plain &= !calls || !names.iter().any(seen);
        value.walk(&mut |part| {
            plain &= !matches!(
                part.kind,
                ExprKind::Index(..)
                    | ExprKind::Call(..)
                    | ExprKind::Floating { .. }
                    | ExprKind::Other(..)
                    | ExprKind::Unary(UnaryOp::Dereference | UnaryOp::Address, _)
            );
        });
        plain
    };
    let set = |name: &str| {
        list.iter().any(|stmt| {
            assigned_within(stmt).iter().any(|(own, _)| own == name) || names::indices(stmt).contains(name)
        })
    };
    let once = |name: &str| {
        let mut count = 0;
        list.iter().for_each(|stmt| {
            stmt.walk(&mut |part| {
                if let StmtKind::Declaration(own) = &part.kind {
                    count += own.iter().filter(|one| one.name == name).count();
                }
            });
        });
        count == 1
    };
    variables
        .iter()
        .filter(|one| matches!(one.ctype, CType::Integer { .. }) && once(&one.name) && !set(&one.name))
        .filter_map(|one| {
            let value = one.value.as_ref().filter(|value| plain(value))?;
            Some((one.name.clone(), ExprKind::Cast(one.ctype.clone(), Box::new(value.clone()))))
        })
        .collect()
}
