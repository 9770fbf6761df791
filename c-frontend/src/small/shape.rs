//! Elements and extents of small arrays.

use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::integer::literal;
use std::collections::{HashMap, HashSet};

/// Most elements of a small array.
pub(super) const MOST_ELEMENTS: usize = 64;

/// Variables, and those that statements declare once.
pub(super) fn with_declared(
    statements: &[Stmt],
    variables: &HashMap<String, Variable>,
) -> HashMap<String, Variable> {
    let (mut found, mut again) = (HashMap::new(), HashSet::new());
    for stmt in statements {
        stmt.walk(&mut |part| {
            if let StmtKind::Declaration(list) = &part.kind {
                for one in list {
                    if variables.contains_key(&one.name)
                        || found.insert(one.name.clone(), one.clone()).is_some()
                    {
                        again.insert(one.name.clone());
                    }
                }
            }
        });
    }
    let mut known = variables.clone();
    known.extend(found);
    known.retain(|name, _| !again.contains(name));
    known
}

/// The array and the subscripts of an element.
pub(super) fn element(expr: &Expr) -> Option<(&str, Vec<&Expr>)> {
    let (array, indices) = expr.indexed();
    match &array.kind {
        ExprKind::Name(name) if !indices.is_empty() => Some((name, indices)),
        _ => None,
    }
}

/// The number of an element in an array with some extents; `None` where it is not known, or lies outside.
pub(super) fn number_of(indices: &[&Expr], extents: &[usize]) -> Option<usize> {
    if indices.len() != extents.len() {
        return None;
    }
    indices.iter().zip(extents).try_fold(0, |sum, (index, extent)| {
        let at = usize::try_from(literal(index)?).ok().filter(|at| at < extent)?;
        Some(sum * extent + at)
    })
}

/// The extents of an array of numbers that is small, with the type of its elements.
pub(super) fn extents(ctype: &CType, value: Option<&Expr>) -> Option<(Vec<usize>, CType)> {
    let (mut at, mut found) = (ctype, Vec::new());
    while let CType::Array(inner, extent) = at {
        let own = match (extent, value.map(|value| &value.kind)) {
            (Some(extent), _) => usize::try_from(literal(extent)?).ok()?,
            // `int e[] = { 0, 1, -1 }`
            (None, Some(ExprKind::List(list))) if found.is_empty() => list.len(),
            (None, _) => return None,
        };
        found.push(own);
        at = inner;
    }
    let number = matches!(at, CType::Integer { .. } | CType::Floating(_));
    let count = found.iter().try_fold(1_usize, |count, own| count.checked_mul(*own))?;
    (number && !found.is_empty() && (1..=MOST_ELEMENTS).contains(&count)).then(|| (found, at.clone()))
}

/// The values of an array's elements, in order, where a list gives them: `None` for those that it leaves out.
pub(super) fn listed<'a>(value: &'a Expr, extents: &[usize]) -> Option<Vec<Option<&'a Expr>>> {
    let ExprKind::List(list) = &value.kind else { return None };
    let (first, rest) = extents.split_first()?;
    if list.len() > *first {
        return None;
    }
    let below: usize = rest.iter().product();
    let mut found = Vec::new();
    for one in list {
        match (&one.kind, rest.is_empty()) {
            (ExprKind::List(_), true) => return None,
            (_, true) => found.push(Some(one)),
            // Without braces of its own, a row takes as many values as it needs.
            (ExprKind::List(_), false) => found.extend(listed(one, rest)?),
            (_, false) => return None,
        }
    }
    found.resize(first * below, None);
    Some(found)
}
