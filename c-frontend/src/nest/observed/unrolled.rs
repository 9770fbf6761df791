//! Loops over colours, which take passes over points in turn: their rounds are statements of the body, one after the other.

use super::names;
use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::integer::{IntType, literal};
use crate::nest::counter::counter;
use crate::nest::same_names;
use crate::nest::targets::indexes_target;
use crate::parse::Region;
use std::collections::HashSet;

/// Most rounds of such a loop.
const MOST_ROUNDS: i64 = 8;

/// The rounds of a loop whose index is a number in each, and chooses points by its parity, not by being a subscript. `others`: the
/// names in the rest of the time loop, which must not ask for the index.
pub(super) fn rounds(region: &Region, stmt: &Stmt, others: &HashSet<String>) -> Option<Vec<Stmt>> {
    let StmtKind::For(source) = &stmt.kind else { return None };
    let own = counter(source).ok()?;
    let name = &own.name;
    let (first, limit) = (literal(&own.first)?, literal(&own.limit)?);
    let sign = if own.descending { -1 } else { 1 };
    let rounds = (limit - first) * sign + i64::from(own.inclusive);
    // The numbers that stand for it have the type `int`.
    let declared = source.start.iter().find_map(|start| match &start.kind {
        StmtKind::Declaration(list) => list.first(),
        _ => region.variables.get(name),
    });
    let is_int = declared
        .and_then(|one| IntType::of(&one.ctype))
        .is_some_and(|own| own.promoted() == IntType::INT && own.has(limit.into()));
    if own.by != 1 || !is_int || !(1..=MOST_ROUNDS).contains(&rounds) || indexes_target(&source.body, name) {
        return None;
    }
    // Something in it runs over points, and nothing has the index for a subscript, changes it or hides it.
    let (mut loops, mut plain) = (false, true);
    source.body.walk(&mut |part| match &part.kind {
        StmtKind::For(_) => loops = true,
        StmtKind::Declaration(list) => plain &= list.iter().all(|one| one.name != *name),
        StmtKind::Other(_, words) => plain &= !words.contains(name),
        _ => {}
    });
    source.body.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Index(_, at) => plain &= !at.mentions(name),
        ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => {
            plain &= !matches!(&target.kind, ExprKind::Name(own) if own == name);
        }
        ExprKind::Unary(crate::ast::UnaryOp::Address, of) => plain &= !of.mentions(name),
        _ => {}
    });
    let free = own.type_name.is_some() || (!region.used_behind.contains(name) && !others.contains(name));
    if !loops || !plain || !free || !names::within(&source.body).contains(name) {
        return None;
    }
    let round = |number: i64| {
        let value = first + sign * number;
        let mut body = source.body.clone();
        body.walk_expressions_mut(&mut |part| {
            if matches!(&part.kind, ExprKind::Name(own) if own == name) {
                *part = Expr {
                    kind: ExprKind::Integer { value, text: value.to_string() },
                    span: part.span.clone(),
                };
            }
        });
        // Each round has its own of what it declares.
        let mut list = match body.kind {
            StmtKind::Block(list) => list,
            _ => vec![body],
        };
        let mut own = Vec::new();
        for stmt in &list {
            if let StmtKind::Declaration(variables) = &stmt.kind {
                own.extend(variables.iter().map(|one| one.name.clone()));
            }
        }
        for own in own {
            let fresh = format!("tw_round{number}_{own}");
            list.iter_mut().for_each(|stmt| same_names::rename(stmt, &own, &fresh));
        }
        list.iter_mut().for_each(|part| part.span = stmt.span.clone());
        list
    };
    Some((0..rounds).flat_map(round).collect())
}
