//! Scalars that hold, behind loops, the largest of a value over all points, or their sum where no value is negative.

use super::rows;
pub(super) use super::rows::Maximum;
use super::signs::{is_no_less, same};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, ForLoop, Stmt, StmtKind, UnaryOp};
use crate::nest::math::math_function;
use crate::nest::scalars::assigned_within;
use crate::parse::Region;
use std::collections::HashMap;

/// Where a scalar becomes the largest of a value over points, or their sum, if that is all that happens to it in a step but for
/// its first value, a literal, and what is known to follow.
pub(super) fn maximum<'a>(
    region: &Region,
    list: &[&'a Stmt],
    name: &str,
    follow: usize,
) -> Option<Maximum<'a>> {
    let mut maxima: Vec<Maximum<'a>> = Vec::new();
    let (mut count, mut known, mut starts, mut below) = (0, follow, false, false);
    for (at, &stmt) in list.iter().enumerate() {
        count += assigned_within(stmt).iter().filter(|(other, _)| other == name).count();
        // A declaration within hides it.
        count += stmt_declares(stmt, name);
        let (before, literals) = (maxima.len(), known);
        match &stmt.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })
                if target.is_name(name) && is_number(value) =>
            {
                known += 1;
                starts = true;
                below |= matches!(value.kind, ExprKind::Unary(UnaryOp::Minus, _));
            }
            StmtKind::Declaration(own) => {
                match own.iter().find(|one| one.name == name).map(|one| one.value.as_ref()) {
                    Some(None) => known += 1,
                    Some(Some(value)) if is_number(value) => {
                        known += 1;
                        starts = true;
                        below |= matches!(value.kind, ExprKind::Unary(UnaryOp::Minus, _));
                    }
                    _ => {}
                }
            }
            StmtKind::For(_) if starts => {
                let place = (name, at);
                chains(region, stmt, place, &mut Vec::new(), &mut HashMap::new(), &mut maxima);
            }
            // Parts of the points, each with a maximum or a sum of its own.
            StmtKind::Expr(_) | StmtKind::If(..) => {
                if let Some(mut parts) = merged(region, &list[..at], stmt, name, starts) {
                    maxima.append(&mut parts);
                    known += 1;
                    starts = true;
                    continue;
                }
            }
            _ => {}
        }
        // What is set anew behind its loops says nothing of them.
        if known > literals && before > 0 {
            return None;
        }
        known += maxima.len() - before;
    }
    // Of several, one is enough; but not of both kinds.
    let sum = maxima.first()?.sum;
    let spoilt = maxima.iter().any(|one| one.spoilt);
    let single = maxima.iter().any(|one| one.single);
    if count != known || maxima.iter().any(|one| one.sum != sum) || (sum && below) {
        return None;
    }
    let last = maxima.pop()?;
    let mut before = Vec::new();
    for one in &maxima {
        before.extend(one.before.iter().cloned());
        before.push((one.at, one.statement, one.value));
    }
    before.extend(last.before.iter().cloned());
    Some(Maximum { spoilt, single, before, ..last })
}

/// What a name takes from parts of the points, `m += part;`, `m = fmax(m, part);` or, as its first value, `m = a > b ? a : b;`;
/// `list`: the statements before.
fn merged<'a>(
    region: &Region,
    list: &[&'a Stmt],
    stmt: &'a Stmt,
    name: &str,
    starts: bool,
) -> Option<Vec<Maximum<'a>>> {
    let whole = |value: &'a Expr, sum: bool| {
        rows::of_parts(region, list.to_vec(), &single(stmt, (name, 0), (&[], value), (sum, sum)), maximum)
    };
    if starts {
        let mut found = Vec::new();
        chains(region, stmt, (name, 0), &mut Vec::new(), &mut HashMap::new(), &mut found);
        let part = match (found.as_slice(), added(stmt, name)) {
            ([one], _) => rows::of_parts(region, list.to_vec(), one, maximum)?,
            ([], Some(value)) if !value.mentions(name) => whole(value, true).filter(|one| one.sum)?,
            _ => return None,
        };
        return Some(vec![part]);
    }
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = &stmt.kind else {
        return None;
    };
    let (a, b, sum) = match &value.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => (a, b, true),
        ExprKind::Conditional(condition, a, b) => {
            let ExprKind::Binary(operator, left, right) = &condition.kind else { return None };
            let (left, right) = match operator {
                BinaryOp::Greater | BinaryOp::GreaterEqual => (left, right),
                BinaryOp::Less | BinaryOp::LessEqual => (right, left),
                _ => return None,
            };
            (same(left, a) && same(right, b)).then_some((a, b, false))?
        }
        _ => return None,
    };
    if !target.is_name(name) || value.mentions(name) {
        return None;
    }
    let parts = [whole(a, sum)?, whole(b, sum)?];
    (parts[0].sum == parts[1].sum && (sum <= parts[0].sum)).then(|| parts.into())
}

/// `m = fmax(m, d);`, `if (d > m) m = d;`, `m = d > m ? d : m;` (also by a function of the program) or `m += d;` within loops.
/// `local`: whether the values of names are known not to be negative.
fn chains<'a>(
    region: &Region,
    stmt: &'a Stmt,
    (name, at): (&str, usize),
    loops: &mut Vec<&'a ForLoop>,
    local: &mut HashMap<String, bool>,
    found: &mut Vec<Maximum<'a>>,
) {
    let mut add = |value: &'a Expr, loops: &[&'a ForLoop], sum: bool, spoilt: bool| {
        if !value.mentions(name) {
            found.push(single(stmt, (name, at), (loops, value), (sum, spoilt)));
        }
    };
    match &stmt.kind {
        StmtKind::Block(list) => {
            for (number, stmt) in list.iter().enumerate() {
                let before = found.len();
                chains(region, stmt, (name, at), loops, local, found);
                for own in &mut found[before..] {
                    *own = rows::taken_apart(region, &list[..number], own, maximum)
                        .unwrap_or_else(|| own.clone());
                }
                // A sum of sums, none of which is negative.
                if found.len() == before
                    && let Some(value) = added(stmt, name).filter(|value| !value.mentions(name))
                {
                    let sum = single(stmt, (name, at), (loops, value), (true, true));
                    found.extend(
                        rows::taken_apart(region, &list[..number], &sum, maximum).filter(|one| one.sum),
                    );
                }
                let value = match &stmt.kind {
                    StmtKind::Declaration(own) => {
                        for one in own {
                            let known =
                                one.value.as_ref().is_some_and(|value| is_no_less(region, value, local));
                            let floating = matches!(one.ctype, CType::Floating(_));
                            local.insert(one.name.clone(), known && floating);
                        }
                        continue;
                    }
                    StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                        if let ExprKind::Name(own) = &target.kind
                            && let Some(CType::Floating(_)) = region.variables.get(own).map(|one| &one.ctype)
                        {
                            Some((own, value))
                        } else {
                            None
                        }
                    }
                    _ => None,
                };
                let known = value.map(|(own, value)| (own.clone(), is_no_less(region, value, local)));
                local.retain(|own, _| assigned_within(stmt).iter().all(|(other, _)| other != own));
                local.extend(known);
            }
        }
        StmtKind::For(source) => {
            local.retain(|own, _| assigned_within(stmt).iter().all(|(other, _)| other != own));
            loops.push(source);
            let mut own = local.clone();
            chains(region, &source.body, (name, at), loops, &mut own, found);
            loops.pop();
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(Some(BinaryOp::Add), target, value), .. })
            if target.is_name(name) && is_no_less(region, value, local) =>
        {
            add(value, loops, true, true);
        }
        StmtKind::If(condition, then, otherwise) => {
            let otherwise_assigned = otherwise.as_ref().and_then(|stmt| assigned_to(stmt, name));
            if let (Some(value), None) = (assigned_to(then, name), otherwise)
                && greater(condition, name).is_some_and(|other| same(other, value))
            {
                add(value, loops, false, false);
            } else if let (Some(a), Some(b)) = (assigned_to(then, name), otherwise_assigned)
                && let Some((value, spoilt)) =
                    chosen(name, condition, exact(region, name, a), exact(region, name, b))
            {
                // `if (m > d) m = m; else m = d;`, of a function that returns either: two assignments.
                add(value, loops, false, spoilt);
                add(value, loops, false, spoilt);
            } else if !condition.mentions(name) {
                // The points of which a condition holds are points, too.
                for branch in [Some(then), otherwise.as_ref()].into_iter().flatten() {
                    chains(region, branch, (name, at), loops, &mut local.clone(), found);
                }
            }
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if target.is_name(name) => {
            match &exact(region, name, value).kind {
                ExprKind::Call(function, arguments) => {
                    let is_fmax = matches!(&function.kind, ExprKind::Name(name)
                        if matches!(name.as_str(), "fmax" | "fmaxf")
                            && math_function(name).is_some()
                            && !region.functions.contains_key(name));
                    match arguments.as_slice() {
                        [a, b] if is_fmax && a.is_name(name) => add(b, loops, false, false),
                        [a, b] if is_fmax && b.is_name(name) => add(a, loops, false, false),
                        _ => {}
                    }
                }
                // `m = m + d`
                ExprKind::Binary(BinaryOp::Add, a, b) if a.is_name(name) || b.is_name(name) => {
                    let value = if a.is_name(name) { b } else { a };
                    if is_no_less(region, value, local) {
                        add(value, loops, true, true);
                    }
                }
                ExprKind::Conditional(condition, then, otherwise) => {
                    if let Some((value, spoilt)) = chosen(name, condition, then, otherwise) {
                        add(value, loops, false, spoilt);
                    }
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// One that a statement takes a value into.
fn single<'a>(
    stmt: &'a Stmt,
    (name, at): (&str, usize),
    (loops, value): (&[&'a ForLoop], &'a Expr),
    (sum, spoilt): (bool, bool),
) -> Maximum<'a> {
    Maximum {
        name: name.to_owned(),
        sum,
        spoilt,
        single: is_single(stmt),
        at,
        statement: stmt,
        loops: loops.to_vec(),
        value,
        before: Vec::new(),
    }
}

/// What a statement adds to a name.
fn added<'a>(stmt: &'a Stmt, name: &str) -> Option<&'a Expr> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(operator, target, value), .. }) = &stmt.kind else {
        return None;
    };
    match (operator, &value.kind) {
        _ if !target.is_name(name) => None,
        (Some(BinaryOp::Add), _) => Some(value),
        (None, ExprKind::Binary(BinaryOp::Add, a, b)) if a.is_name(name) => Some(b),
        (None, ExprKind::Binary(BinaryOp::Add, a, b)) if b.is_name(name) => Some(a),
        _ => None,
    }
}

/// Whether a statement calls `fmaxf`, which rounds what it is given.
fn is_single(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk_expressions(&mut |part| {
        found |= matches!(&part.kind, ExprKind::Call(function, _) if function.is_name("fmaxf"));
    });
    found
}

/// `d` of `d > m ? d : m`, or of `m > d ? m : d`, which takes a `d` that is no number.
fn chosen<'a>(name: &str, condition: &Expr, then: &'a Expr, otherwise: &'a Expr) -> Option<(&'a Expr, bool)> {
    let (value, holds, spoilt) = match (then.is_name(name), otherwise.is_name(name)) {
        (_, true) => (then, greater(condition, name), false),
        (true, false) => (otherwise, less(condition, name), true),
        _ => return None,
    };
    holds.is_some_and(|other| same(other, value)).then_some((value, spoilt))
}

/// The value that a statement, and nothing else, assigns to a name.
fn assigned_to<'a>(stmt: &'a Stmt, name: &str) -> Option<&'a Expr> {
    let stmt = match &stmt.kind {
        StmtKind::Block(list) => match list.as_slice() {
            [one] => one,
            _ => return None,
        },
        _ => stmt,
    };
    match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) if target.is_name(name) => {
            Some(value)
        }
        _ => None,
    }
}

/// What a function's value is converted to, where a maximum in `name` stays what it is: to `double`, or to its own type.
fn exact<'a>(region: &Region, name: &str, value: &'a Expr) -> &'a Expr {
    let own = region.variables.get(name).map(|one| &one.ctype);
    match &value.kind {
        ExprKind::Cast(to, inner) if *to == CType::Floating(Floating::Double) || Some(to) == own => inner,
        _ => value,
    }
}

/// What is compared as greater than a name.
fn greater<'a>(condition: &'a Expr, name: &str) -> Option<&'a Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::Greater | BinaryOp::GreaterEqual, left, right) if right.is_name(name) => {
            Some(left)
        }
        ExprKind::Binary(BinaryOp::Less | BinaryOp::LessEqual, left, right) if left.is_name(name) => {
            Some(right)
        }
        _ => None,
    }
}

/// What is compared as less than a name.
fn less<'a>(condition: &'a Expr, name: &str) -> Option<&'a Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::Greater | BinaryOp::GreaterEqual, left, right) if left.is_name(name) => {
            Some(right)
        }
        ExprKind::Binary(BinaryOp::Less | BinaryOp::LessEqual, left, right) if right.is_name(name) => {
            Some(left)
        }
        _ => None,
    }
}

pub(super) fn stmt_declares(stmt: &Stmt, name: &str) -> usize {
    let mut count = 0;
    stmt.walk(&mut |part| {
        if let StmtKind::Declaration(own) = &part.kind {
            count += own.iter().filter(|one| one.name == name).count();
        }
    });
    count
}

fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Floating { .. } | ExprKind::Integer { .. } => true,
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => is_number(operand),
        _ => false,
    }
}
