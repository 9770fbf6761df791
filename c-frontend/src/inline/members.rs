//! Arrays that are members of structures, as variables: `grid->u[i][j]` is an element of `grid->u`.

use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::parse::Structures;
use crate::text::c_text;
use std::collections::{HashMap, HashSet};

/// Puts a variable in the place of each array or pointer that is a member of a structure which the statements leave alone.
/// Returns the new ones that are pointers: their own values lie in memory.
pub(crate) fn members_as_variables(
    statements: &mut [Stmt],
    variables: &mut HashMap<String, Variable>,
    structures: &Structures,
) -> Vec<String> {
    let mut changed: HashSet<String> = HashSet::new();
    for stmt in statements.iter() {
        changed.extend(crate::nest::assigned(stmt).1);
        stmt.walk(&mut |stmt| {
            if let StmtKind::Declaration(list) = &stmt.kind {
                changed.extend(list.iter().map(|variable| variable.name.clone()));
            }
        });
    }
    let mut found: HashMap<String, Variable> = HashMap::new();
    for stmt in statements.iter_mut() {
        stmt.walk_expressions_mut(&mut |expr| {
            if !matches!(expr.kind, ExprKind::Member(..)) {
                return;
            }
            let Some((root, ctype)) = member(expr, variables, structures, &found) else { return };
            let computes = matches!(ctype.element(), CType::Integer { .. } | CType::Floating(_));
            if ctype.depth() == 0 || !computes || changed.contains(root) {
                return;
            }
            let (name, global) =
                (c_text(expr, &|_| None), variables.get(root).is_some_and(|root| root.global));
            let span = expr.span.clone();
            found.entry(name.clone()).or_insert(Variable {
                name: name.clone(),
                ctype,
                value: None,
                span,
                global,
                constant: false,
            });
            expr.kind = ExprKind::Name(name);
        });
    }
    let mut pointers: Vec<String> = found
        .values()
        .filter(|variable| matches!(variable.ctype, CType::Pointer(_)))
        .map(|variable| variable.name.clone())
        .collect();
    pointers.sort();
    variables.extend(found);
    pointers
}

/// The variable that a member is reached from, and the member's type.
fn member<'a>(
    expr: &'a Expr,
    variables: &HashMap<String, Variable>,
    structures: &Structures,
    found: &HashMap<String, Variable>,
) -> Option<(&'a str, CType)> {
    match &expr.kind {
        ExprKind::Name(name) if !found.contains_key(name) => Some((name, variables.get(name)?.ctype.clone())),
        ExprKind::Index(array, index) if crate::integer::literal(index).is_some() => {
            let (root, ctype) = member(array, variables, structures, found)?;
            pointed_to(ctype).map(|inner| (root, inner))
        }
        ExprKind::Unary(UnaryOp::Dereference, pointer) => {
            let (root, ctype) = member(pointer, variables, structures, found)?;
            pointed_to(ctype).map(|inner| (root, inner))
        }
        ExprKind::Member(object, arrow, name) => {
            let (root, mut ctype) = member(object, variables, structures, found)?;
            if *arrow {
                ctype = pointed_to(ctype)?;
            }
            let CType::Other(structure) = ctype else { return None };
            Some((root, structures.get(&structure)?.get(name)?.clone()))
        }
        _ => None,
    }
}

fn pointed_to(ctype: CType) -> Option<CType> {
    match ctype {
        CType::Pointer(inner) | CType::Array(inner, _) => Some(*inner),
        _ => None,
    }
}
