//! Small arrays that the statements declare, each of whose elements becomes a variable.

use super::shape::{element, extents, listed, number_of};
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::parse::File;
use std::collections::{HashMap, HashSet};

/// The extents and the type of the elements of an array.
type Shape = (Vec<usize>, CType);

/// The small arrays that statements declare, wherever their name is declared.
pub(super) fn arrays(statements: &[Stmt], variables: &HashMap<String, Variable>) -> HashMap<String, Shape> {
    let mut found: HashMap<String, Option<Shape>> = HashMap::new();
    for stmt in statements {
        stmt.walk(&mut |part| {
            let list = match &part.kind {
                StmtKind::Declaration(list) => list,
                // Its declaration is known by name alone.
                StmtKind::For(source) => match source.start.as_ref().map(|start| &start.kind) {
                    Some(StmtKind::Declaration(list)) => {
                        list.iter().for_each(|one| {
                            found.insert(one.name.clone(), None);
                        });
                        return;
                    }
                    _ => return,
                },
                _ => return,
            };
            for one in list {
                let value = one.value.as_ref();
                let own = extents(&one.ctype, value).filter(|(own, _)| {
                    value.is_none_or(|value| listed(value, own).is_some())
                        && !variables.contains_key(&one.name)
                });
                let known = found.entry(one.name.clone()).or_insert_with(|| own.clone());
                if *known != own {
                    *known = None;
                }
            }
        });
    }
    found.into_iter().filter_map(|(name, shape)| Some((name, shape?))).collect()
}

/// The arrays some of whose uses name no element by its number.
pub(super) fn kept(statements: &[Stmt], small: &HashMap<String, Shape>) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut known: HashSet<*const Expr> = HashSet::new();
    let mut look = |expr: &Expr| match &expr.kind {
        ExprKind::Index(..) => {
            let Some((name, indices)) = element(expr) else { return };
            let Some((extents, _)) = small.get(name) else { return };
            if number_of(&indices, extents).is_some() {
                let mut at = expr;
                while let ExprKind::Index(array, _) = &at.kind {
                    at = array;
                    known.insert(std::ptr::from_ref(at));
                }
            }
        }
        ExprKind::Name(name) if small.contains_key(name) && !known.contains(&std::ptr::from_ref(expr)) => {
            found.insert(name.clone());
        }
        ExprKind::Unary(crate::ast::UnaryOp::Address, inner) => {
            found.extend(
                element(inner).map(|(name, _)| name.to_owned()).filter(|name| small.contains_key(name)),
            );
        }
        ExprKind::Other(_, text) => {
            let words = crate::preprocess::words(text);
            found.extend(small.keys().filter(|name| words.contains(name.as_str())).cloned());
        }
        _ => {}
    };
    for stmt in statements {
        stmt.walk_expressions(&mut look);
    }
    for stmt in statements {
        stmt.walk(&mut |part| {
            if let StmtKind::Other(_, names) = &part.kind {
                found.extend(names.iter().filter(|name| small.contains_key(*name)).cloned());
            }
        });
    }
    found
}

/// Puts variables in the place of elements.
pub(super) fn as_scalars(statements: &mut [Stmt], small: &HashMap<String, Shape>, file: &File<'_>) {
    let mut names: HashMap<&String, String> = HashMap::new();
    for name in small.keys() {
        let mut stem = name.clone();
        while file.has_word(&format!("{stem}_0")) || small.contains_key(&format!("{stem}_0")) {
            stem.push('_');
        }
        names.insert(name, stem);
    }
    for stmt in statements {
        stmt.walk_expressions_mut(&mut |part| {
            let found = element(part).and_then(|(name, indices)| {
                let (extents, _) = small.get(name)?;
                Some(format!("{}_{}", names.get(&name.to_owned())?, number_of(&indices, extents)?))
            });
            if let Some(name) = found {
                part.kind = ExprKind::Name(name);
            }
        });
        stmt.walk_mut(&mut |part| {
            let StmtKind::Declaration(list) = &mut part.kind else { return };
            let own = std::mem::take(list);
            for one in own {
                match (small.get(&one.name), names.get(&one.name)) {
                    (Some((extents, ctype)), Some(stem)) => list.extend(elements(&one, extents, ctype, stem)),
                    _ => list.push(one),
                }
            }
        });
    }
}

/// The variables that hold the elements of an array; those that a list of values leaves out are zero.
fn elements(one: &Variable, extents: &[usize], ctype: &CType, stem: &str) -> Vec<Variable> {
    let values = one.value.as_ref().and_then(|value| listed(value, extents));
    let zero = Expr { kind: ExprKind::Integer { value: 0, text: "0".to_owned() }, span: one.span.clone() };
    (0..extents.iter().product())
        .map(|at: usize| Variable {
            name: format!("{stem}_{at}"),
            ctype: ctype.clone(),
            value: values.as_ref().map(|values| values[at].cloned().unwrap_or_else(|| zero.clone())),
            ..one.clone()
        })
        .collect()
}
