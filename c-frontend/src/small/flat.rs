//! Flat arrays that keep a few values of each point side by side, `f[(y * nx + x) * 9 + 3]`: each of them is an array of its own,
//! as those of `f[][9]` are.
//!
//! All elements that the statements name have one count of values, and numbers below it: then `f[p * 9 + 3]` is
//! `((double (*)[9])f)[p][3]`, whatever `p` is. Each number has statements of its own, so that `a[i * 10 + j]` stays a plane.

use super::shape::{MOST_ELEMENTS, element, with_declared};
use super::unroll::unrolled;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::integer::literal;
use crate::text::{MemberOf, type_text};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Fewest values of a point that are told apart.
const FEWEST: i64 = 3;

/// Puts arrays of their own in the place of those whose elements are all `p * count + number`.
pub(crate) fn flat_planes_as_variables(statements: &mut [Stmt], variables: &mut HashMap<String, Variable>) {
    let by_number = |name: &str, count: i64| literals(statements, name).len() as i64 == count;
    let counts: HashMap<String, i64> = variables
        .iter()
        .filter(|(_, one)| is_flat(&one.ctype))
        .filter_map(|(name, _)| Some((name.clone(), count(statements, name)?)))
        .filter(|(name, count)| by_number(name, *count))
        .collect();
    // All buffers that take turns, or none.
    let alike = |[one, other]: &[String; 2]| match (counts.get(one), counts.get(other)) {
        (Some(one), Some(other)) => one == other,
        (Some(_), None) => !has_elements(statements, other),
        (None, Some(_)) => !has_elements(statements, one),
        (None, None) => true,
    };
    if counts.is_empty() || !exchanged(statements).iter().all(alike) {
        return;
    }
    let chosen = |expr: &Expr| {
        let number = element(expr).filter(|(name, _)| counts.contains_key(*name));
        let number =
            number.and_then(|(_, indices)| parts(indices.first()?)).and_then(|(_, _, number)| number);
        match number.map(|number| &number.kind) {
            Some(ExprKind::Name(index)) => HashSet::from([index.clone()]),
            _ => HashSet::new(),
        }
    };
    let mut own = statements.to_vec();
    if unrolled(&mut own, &chosen, &with_declared(statements, variables)).is_none() {
        return;
    }
    // Every value of every point by its number, or all stays as it was.
    let known = |name: &str, count: i64| numbers(&own, name, count);
    let found: HashMap<&String, BTreeSet<i64>> =
        counts.iter().filter_map(|(name, &count)| Some((name, known(name, count)?))).collect();
    if found.len() != counts.len() {
        return;
    }
    for (name, numbers) in &found {
        let variable = variables[*name].clone();
        for number in numbers {
            let plane = MemberOf::flat(name, &type_text(variable.ctype.element()), (counts[*name], *number));
            variables.insert(plane.clone(), Variable { name: plane, value: None, ..variable.clone() });
        }
    }
    statements.iter_mut().zip(own).for_each(|(stmt, written)| *stmt = written);
    for stmt in statements {
        stmt.walk_expressions_mut(&mut |part| put(part, &counts, variables));
    }
}

/// Whether a type is that of a flat array of numbers, or of a pointer to one.
fn is_flat(ctype: &CType) -> bool {
    matches!(ctype, CType::Pointer(inner) | CType::Array(inner, _) if matches!(**inner, CType::Floating(_)))
}

/// `p * count + number`: its parts; no number where that is 0.
fn parts(index: &Expr) -> Option<(&Expr, i64, Option<&Expr>)> {
    fn of(expr: &Expr) -> Option<(&Expr, i64)> {
        let ExprKind::Binary(BinaryOp::Mul, a, b) = &expr.kind else { return None };
        let (point, count) = match literal(b) {
            Some(count) => (a, count),
            None => (b, literal(a)?),
        };
        (FEWEST..=MOST_ELEMENTS as i64).contains(&count).then_some((&**point, count))
    }
    match &index.kind {
        ExprKind::Binary(BinaryOp::Add, a, b) => match (of(a), of(b)) {
            (Some((point, count)), None) => Some((point, count, Some(b))),
            (None, Some((point, count))) => Some((point, count, Some(a))),
            _ => None,
        },
        _ => of(index).map(|(point, count)| (point, count, None)),
    }
}

/// How many values each point has, if all elements say the same and the array is nothing but elements and exchanged.
fn count(statements: &[Stmt], name: &str) -> Option<i64> {
    let (mut counts, mut plain, mut uses, mut names) = (BTreeSet::new(), true, 0, 0);
    let is_name = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(own) if own == name);
    for stmt in statements {
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Index(array, index) if is_name(array) => {
                uses += 1;
                match parts(index) {
                    Some((_, count, _)) => {
                        counts.insert(count);
                    }
                    None => plain = false,
                }
            }
            ExprKind::Assign(None, a, b)
                if matches!((&a.kind, &b.kind), (ExprKind::Name(_), ExprKind::Name(_))) =>
            {
                uses += usize::from(is_name(a)) + usize::from(is_name(b));
            }
            ExprKind::Name(own) if own == name => names += 1,
            ExprKind::Other(_, text) => plain &= !crate::preprocess::words(text).contains(name),
            _ => {}
        });
        stmt.walk(&mut |part| match &part.kind {
            StmtKind::Declaration(list) => {
                plain &= list.iter().all(|one| one.name != name);
                let values = list.iter().filter_map(|one| one.value.as_ref());
                uses += values.filter(|value| is_name(value)).count();
            }
            StmtKind::Other(_, words) => plain &= !words.iter().any(|own| own == name),
            _ => {}
        });
    }
    let mut counts = counts.into_iter();
    let count = counts.next()?;
    (plain && uses == names && counts.next().is_none()).then_some(count)
}

/// The names that one is assigned to the other.
fn exchanged(statements: &[Stmt]) -> Vec<[String; 2]> {
    let mut found = Vec::new();
    let name = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    };
    for stmt in statements {
        stmt.walk_expressions(&mut |part| {
            if let ExprKind::Assign(None, a, b) = &part.kind {
                found.extend(name(a).zip(name(b)).map(<[_; 2]>::from));
            }
        });
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(list) = &part.kind {
                let values =
                    list.iter().filter_map(|one| Some((one.name.clone(), name(one.value.as_ref()?)?)));
                found.extend(values.map(<[_; 2]>::from));
            }
        });
    }
    found
}

/// Whether statements name elements of an array.
fn has_elements(statements: &[Stmt], name: &str) -> bool {
    let mut found = false;
    for stmt in statements {
        stmt.walk_expressions(&mut |part| found |= element(part).is_some_and(|(own, _)| own == name));
    }
    found
}

/// The numbers of an array's elements that are literals.
fn literals(statements: &[Stmt], name: &str) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for stmt in statements {
        stmt.walk_expressions(&mut |part| {
            let Some((_, indices)) = element(part).filter(|(own, _)| *own == name) else { return };
            let number = indices.first().and_then(|index| parts(index)).map(|(_, _, number)| number);
            found.extend(number.and_then(|number| number.map_or(Some(0), literal)));
        });
    }
    found
}

/// The numbers of an array's elements, if all of them are known, and the points move.
fn numbers(statements: &[Stmt], name: &str, count: i64) -> Option<BTreeSet<i64>> {
    let (mut found, mut plain, mut moves) = (BTreeSet::new(), true, false);
    for stmt in statements {
        stmt.walk_expressions(&mut |part| {
            let Some((_, indices)) = element(part).filter(|(own, _)| *own == name) else { return };
            let own = indices.first().and_then(|index| parts(index));
            match own.map(|(point, _, number)| (point, number.map_or(Some(0), literal))) {
                Some((point, Some(number))) if (0..count).contains(&number) => {
                    found.insert(number);
                    moves |= literal(point).is_none();
                }
                _ => plain = false,
            }
        });
    }
    (plain && moves && found.len() >= FEWEST as usize).then_some(found)
}

fn put(part: &mut Expr, counts: &HashMap<String, i64>, variables: &HashMap<String, Variable>) {
    let Some((name, indices)) = element(part) else { return };
    let Some((count, variable)) = counts.get(name).zip(variables.get(name)) else { return };
    let Some((point, _, number)) = indices.first().and_then(|index| parts(index)) else { return };
    let Some(number) = number.map_or(Some(0), literal) else { return };
    let plane = MemberOf::flat(name, &type_text(variable.ctype.element()), (*count, number));
    let array = Expr { kind: ExprKind::Name(plane), span: part.span.clone() };
    part.kind = ExprKind::Index(Box::new(array), Box::new(point.clone()));
}
