//! Arrays that keep a few values of each point side by side, `f[y][x][9]`: each of them is an array of its own, named
//! `f[][][3]`, like a member of an array of structures.

use super::shape::{MOST_ELEMENTS, element, with_declared};
use super::unroll::unrolled;
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::integer::literal;
use std::collections::{HashMap, HashSet};

/// Fewest values of a point that are told apart: two may be the ends of a grid.
const FEWEST: usize = 3;

/// Puts arrays of their own in the place of those whose last subscript is a number wherever they are used.
pub(crate) fn planes_as_variables(statements: &mut [Stmt], variables: &mut HashMap<String, Variable>) {
    let names: Vec<String> = variables.keys().cloned().collect();
    // Loops over the values of a point, where each of them has statements of its own, too.
    let told_apart: HashSet<String> = names
        .iter()
        .filter(|name| {
            let ctype = variables.get(*name).and_then(|one| of_points(&one.ctype));
            let all = variables.get(*name).and_then(|one| last_extent(&one.ctype));
            ctype.is_some_and(|ctype| Some(values_by_number(statements, name, ctype.depth())) == all)
        })
        .cloned()
        .collect();
    if told_apart.is_empty() {
        return;
    }
    let chosen = |expr: &Expr| {
        let mut found = HashSet::new();
        expr.walk(&mut |part| {
            let last = element(part).filter(|(name, _)| told_apart.contains(*name));
            if let Some(ExprKind::Name(index)) = last.and_then(|(_, indices)| Some(&indices.last()?.kind)) {
                found.insert(index.clone());
            }
        });
        found
    };
    let mut own = statements.to_vec();
    let known = with_declared(statements, variables);
    if unrolled(&mut own, &chosen, &known).is_none() {
        return;
    }
    statements.iter_mut().zip(own).for_each(|(stmt, written)| *stmt = written);
    for name in told_apart {
        let Some(ctype) = variables.get(&name).and_then(|one| of_points(&one.ctype)) else { continue };
        let Some(numbers) = numbers(statements, &name, ctype.depth()) else { continue };
        for number in numbers {
            let plane = plane(&name, ctype.depth(), number);
            let own = Variable {
                name: plane.clone(),
                ctype: ctype.clone(),
                value: None,
                ..variables[&name].clone()
            };
            variables.insert(plane, own);
        }
        for stmt in statements.iter_mut() {
            stmt.walk_expressions_mut(&mut |part| put(part, &name, ctype.depth()));
        }
    }
}

fn plane(name: &str, depth: usize, number: i64) -> String {
    format!("{name}{}[{number}]", "[]".repeat(depth))
}

/// The type of an array that has one value of each point.
fn of_points(ctype: &CType) -> Option<CType> {
    match ctype {
        CType::Array(inner, Some(extent))
            if matches!(**inner, CType::Floating(_) | CType::Integer { .. }) =>
        {
            let count = usize::try_from(literal(extent)?).ok()?;
            (FEWEST..=MOST_ELEMENTS).contains(&count).then(|| (**inner).clone())
        }
        CType::Array(inner, extent) => Some(CType::Array(Box::new(of_points(inner)?), extent.clone())),
        CType::Pointer(inner) if matches!(**inner, CType::Array(..)) => {
            Some(CType::Pointer(Box::new(of_points(inner)?)))
        }
        _ => None,
    }
    .filter(|found| found.depth() + 1 == ctype.depth())
}

/// The last subscripts of an array's elements; `None` where something else than elements of known ones is used.
fn numbers(statements: &[Stmt], name: &str, depth: usize) -> Option<Vec<i64>> {
    let (mut found, mut plain, mut moves) = (HashSet::new(), depth > 0, false);
    let mut known: HashSet<*const Expr> = HashSet::new();
    for stmt in statements {
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Index(..)
                if element(part).is_some_and(|(own, indices)| own == name && indices.len() == depth + 1) =>
            {
                let indices = element(part).map(|(_, indices)| indices).unwrap_or_default();
                match indices.split_last().and_then(|(last, rest)| Some((literal(last)?, rest))) {
                    Some((number, rest)) => {
                        moves |= rest.iter().any(|index| literal(index).is_none());
                        found.insert(number);
                        let mut at = part;
                        while let ExprKind::Index(array, _) = &at.kind {
                            at = array;
                        }
                        known.insert(std::ptr::from_ref(at));
                    }
                    None => plain = false,
                }
            }
            ExprKind::Name(own) if own == name => plain &= known.contains(&std::ptr::from_ref(part)),
            ExprKind::Other(_, text) => plain &= !crate::preprocess::words(text).contains(name),
            _ => {}
        });
        stmt.walk(&mut |part| match &part.kind {
            StmtKind::Declaration(list) => plain &= list.iter().all(|one| one.name != name),
            StmtKind::Other(_, names) => plain &= !names.iter().any(|own| own == name),
            _ => {}
        });
    }
    let mut numbers: Vec<i64> = found.into_iter().collect();
    numbers.sort_unstable();
    (plain && moves && numbers.len() >= FEWEST).then_some(numbers)
}

/// How many values each point has.
fn last_extent(ctype: &CType) -> Option<usize> {
    match ctype {
        CType::Array(inner, Some(extent)) if inner.depth() == 0 => usize::try_from(literal(extent)?).ok(),
        CType::Array(inner, _) | CType::Pointer(inner) => last_extent(inner),
        _ => None,
    }
}

/// How many values of a point stand in statements of their own.
fn values_by_number(statements: &[Stmt], name: &str, depth: usize) -> usize {
    let mut found = HashSet::new();
    for stmt in statements {
        stmt.walk_expressions(&mut |part| {
            let Some((own, indices)) = element(part) else { return };
            if own == name && indices.len() == depth + 1 {
                found.extend(indices.last().and_then(|last| literal(last)));
            }
        });
    }
    found.len()
}

fn put(part: &mut Expr, name: &str, depth: usize) {
    let Some((own, indices)) = element(part) else { return };
    if own != name || indices.len() != depth + 1 {
        return;
    }
    let Some(number) = indices.last().and_then(|last| literal(last)) else { return };
    let span = part.span.clone();
    let first = Expr { kind: ExprKind::Name(plane(name, depth, number)), span: span.clone() };
    let made = indices[..depth].iter().fold(first, |array, index| Expr {
        kind: ExprKind::Index(Box::new(array), Box::new((*index).clone())),
        span: span.clone(),
    });
    *part = made;
}
