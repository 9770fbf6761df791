//! Small arrays of a loop's body, written out as scalars: lattice Boltzmann programs keep the values of one point in
//! `double f[9]`, and their directions in tables.
//!
//! ```text
//! for (q = 0; q < 3; q++) f[q] = a[i - e[q]];    =>    f_0 = a[i - 0]; f_1 = a[i - 1]; f_2 = a[i - -1];
//! ```
//!
//! Loops whose index chooses an element of such an array are written out, elements of tables become their values, and each
//! element of a local array a variable of its own. An array stays as it is where one of its uses names no element by a number.

mod local;
mod planes;
mod tables;
mod unroll;

pub(crate) use planes::planes_as_variables;

use crate::ast::{Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::parse::File;
use std::collections::{HashMap, HashSet};

/// Most elements of a small array.
const MOST_ELEMENTS: usize = 64;

/// Writes out what small arrays hold.
pub fn written_out(statements: &mut Vec<Stmt>, file: &File<'_>, variables: &HashMap<String, Variable>) {
    let tables = tables::tables(statements, file, variables);
    let mut small = local::arrays(statements, variables);
    let known = with_declared(statements, variables);
    // One that turns out to be used in another way stays, and its loops with it.
    while !(small.is_empty() && tables.is_empty()) {
        let arrays: HashSet<&String> = small.keys().chain(tables.keys()).collect();
        let chosen = |expr: &Expr| names_of_elements(expr, &arrays);
        let mut own = statements.clone();
        if unroll::unrolled(&mut own, &chosen, &known).is_none() {
            return;
        }
        tables.iter().for_each(|(name, table)| own.iter_mut().for_each(|stmt| table.put(name, stmt)));
        let kept = local::kept(&own, &small);
        if kept.is_empty() {
            local::as_scalars(&mut own, &small, file);
            *statements = own;
            return;
        }
        small.retain(|name, _| !kept.contains(name));
        if small.is_empty() && tables.is_empty() {
            return;
        }
    }
}

/// Variables, and those that statements declare once.
fn with_declared(statements: &[Stmt], variables: &HashMap<String, Variable>) -> HashMap<String, Variable> {
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

/// The names in the subscripts of some arrays.
fn names_of_elements(expr: &Expr, arrays: &HashSet<&String>) -> HashSet<String> {
    let mut found = HashSet::new();
    expr.walk(&mut |part| {
        let Some((name, indices)) = element(part) else { return };
        if arrays.contains(&name.to_owned()) {
            for index in indices {
                index.walk(&mut |part| {
                    if let ExprKind::Name(name) = &part.kind {
                        found.insert(name.clone());
                    }
                });
            }
        }
    });
    found
}

/// The array and the subscripts of an element.
fn element(expr: &Expr) -> Option<(&str, Vec<&Expr>)> {
    let (mut at, mut indices) = (expr, Vec::new());
    while let ExprKind::Index(array, index) = &at.kind {
        indices.push(&**index);
        at = array;
    }
    indices.reverse();
    match &at.kind {
        ExprKind::Name(name) if !indices.is_empty() => Some((name, indices)),
        _ => None,
    }
}

/// The number of an element in an array with some extents; `None` where it is not known, or lies outside.
fn number_of(indices: &[&Expr], extents: &[usize]) -> Option<usize> {
    if indices.len() != extents.len() {
        return None;
    }
    indices.iter().zip(extents).try_fold(0, |sum, (index, extent)| {
        let at = usize::try_from(crate::integer::literal(index)?).ok().filter(|at| at < extent)?;
        Some(sum * extent + at)
    })
}

/// The extents of an array of numbers that is small, with the type of its elements.
fn extents(ctype: &crate::ast::CType, value: Option<&Expr>) -> Option<(Vec<usize>, crate::ast::CType)> {
    use crate::ast::CType;
    let (mut at, mut found) = (ctype, Vec::new());
    while let CType::Array(inner, extent) = at {
        let own = match (extent, value.map(|value| &value.kind)) {
            (Some(extent), _) => usize::try_from(crate::integer::literal(extent)?).ok()?,
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
fn listed<'a>(value: &'a Expr, extents: &[usize]) -> Option<Vec<Option<&'a Expr>>> {
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
