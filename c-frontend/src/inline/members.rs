//! Arrays that are members of structures, as variables: `grid->u[i][j]` is an element of `grid->u`.

use super::turning::turning;
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, UnaryOp, Variable};
use crate::parse::Structures;
use crate::text::{MemberOf, c_text};
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
    }
    let turning = turning(statements, variables).pointers;
    // What points or holds others may reach what it hides, and is not followed.
    let mut hidden = HashSet::new();
    for stmt in statements.iter() {
        stmt.walk(&mut |stmt| {
            if let StmtKind::Declaration(list) = &stmt.kind {
                let number =
                    |one: &&Variable| matches!(one.ctype, CType::Integer { .. } | CType::Floating(_));
                hidden.extend(list.iter().filter(|one| !number(one)).map(|one| one.name.clone()));
            }
        });
    }
    let mut found: HashMap<String, Variable> = HashMap::new();
    for stmt in statements.iter_mut() {
        copied_by_member(stmt, variables, structures);
        in_scope(stmt, &mut hidden, &mut |expr, hidden| {
            if !matches!(expr.kind, ExprKind::Member(..)) {
                return;
            }
            if let Some(variable) = member_of_elements(expr, variables, structures, hidden) {
                found.entry(variable.name.clone()).or_insert(variable);
                return;
            }
            let Some((root, ctype)) = member(expr, variables, structures, &found) else { return };
            let computes = matches!(ctype.element(), CType::Integer { .. } | CType::Floating(_));
            // `a->u`, where `a` takes turns with others: so do their members.
            let in_turn = turning.contains(root)
                && matches!(&expr.kind, ExprKind::Member(object, true, _) if matches!(object.kind, ExprKind::Name(_)));
            let changes = changed.contains(root) && !in_turn;
            if ctype.depth() == 0 || !computes || changes || hidden.contains(root) {
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
        .filter(|variable| {
            matches!(variable.ctype, CType::Pointer(_)) && MemberOf::of(&variable.name).is_none()
        })
        .map(|variable| variable.name.clone())
        .collect();
    pointers.sort();
    variables.extend(found);
    pointers
}

/// Calls `visit` on all expressions of a statement, the innermost first, each with the names that are declared around it, in the
/// statement or before it.
fn in_scope(
    stmt: &mut Stmt,
    hidden: &mut HashSet<String>,
    visit: &mut dyn FnMut(&mut Expr, &HashSet<String>),
) {
    match &mut stmt.kind {
        StmtKind::Declaration(list) => {
            for variable in list {
                // It is in scope where its own value is computed.
                hidden.insert(variable.name.clone());
                variable.value.iter_mut().for_each(|value| value.walk_mut(&mut |expr| visit(expr, hidden)));
            }
        }
        StmtKind::Block(list) => {
            let mut inner = hidden.clone();
            list.iter_mut().for_each(|stmt| in_scope(stmt, &mut inner, visit));
        }
        StmtKind::For(source) => {
            let mut inner = hidden.clone();
            source.start.iter_mut().for_each(|start| in_scope(start, &mut inner, visit));
            let parts = source.condition.iter_mut().chain(&mut source.step);
            parts.for_each(|part| part.walk_mut(&mut |expr| visit(expr, &inner)));
            in_scope(&mut source.body, &mut inner, visit);
        }
        StmtKind::While(source) => {
            source.condition.walk_mut(&mut |expr| visit(expr, hidden));
            in_scope(&mut source.body, &mut hidden.clone(), visit);
        }
        StmtKind::If(condition, then, otherwise) => {
            condition.walk_mut(&mut |expr| visit(expr, hidden));
            in_scope(then, &mut hidden.clone(), visit);
            otherwise.iter_mut().for_each(|otherwise| in_scope(otherwise, &mut hidden.clone(), visit));
        }
        StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => expr.walk_mut(&mut |expr| visit(expr, hidden)),
        StmtKind::Return(None) | StmtKind::Empty | StmtKind::Other(..) => {}
    }
}

/// Makes `cell[i][j].h`, a number of each structure of an array, an element `cell[][].h[i][j]` of an array of its own, and
/// says what that is.
fn member_of_elements(
    expr: &mut Expr,
    variables: &HashMap<String, Variable>,
    structures: &Structures,
    declared: &HashSet<String>,
) -> Option<Variable> {
    let (mut path, mut at) = (Vec::new(), &*expr);
    let mut pointed = false;
    loop {
        at = match &at.kind {
            ExprKind::Member(object, arrow, name) if !pointed => {
                path.push(name.clone());
                pointed = *arrow;
                object
            }
            ExprKind::Unary(UnaryOp::Address, object) if pointed => {
                pointed = false;
                object
            }
            _ => break,
        };
    }
    let element = at.clone();
    let mut indices = Vec::new();
    while let ExprKind::Index(array, index) = &at.kind {
        indices.push((**index).clone());
        at = array;
    }
    let ExprKind::Name(array) = &at.kind else { return None };
    // One that the statements declare hides those outside.
    let root = variables.get(array).filter(|_| !declared.contains(array))?;
    // Rows that lie anywhere are told apart by their first elements, which are structures.
    let pieces = match &root.ctype {
        CType::Pointer(inner) | CType::Array(inner, _) => arrays_only(inner),
        _ => false,
    };
    let plain = indices.iter().all(|index| crate::integer::literal(index).is_some());
    if pointed || indices.is_empty() || plain || root.ctype.depth() != indices.len() || !pieces {
        return None;
    }
    let mut ctype = root.ctype.element().clone();
    for name in path.iter().rev() {
        let CType::Other(structure) = &ctype else { return None };
        ctype = structures.get(structure)?.get(name)?.clone();
    }
    if !arrays_only(&ctype) || !matches!(ctype.element(), CType::Integer { .. } | CType::Floating(_)) {
        return None;
    }
    path.reverse();
    let name = format!("{array}{}.{}", "[]".repeat(indices.len()), path.join("."));
    let mut made = Expr { kind: ExprKind::Name(name.clone()), span: at.span.clone() };
    for index in indices.into_iter().rev() {
        made = Expr { kind: ExprKind::Index(Box::new(made), Box::new(index)), span: element.span.clone() };
    }
    let variable = Variable { name, ctype: with_element(&root.ctype, ctype), value: None, ..root.clone() };
    expr.kind = made.kind;
    Some(variable)
}

fn arrays_only(ctype: &CType) -> bool {
    match ctype {
        CType::Array(inner, _) => arrays_only(inner),
        other => !matches!(other, CType::Pointer(_)),
    }
}

fn with_element(ctype: &CType, element: CType) -> CType {
    match ctype {
        CType::Pointer(inner) => CType::Pointer(Box::new(with_element(inner, element))),
        CType::Array(inner, extent) => CType::Array(Box::new(with_element(inner, element)), extent.clone()),
        _ => element,
    }
}

/// Copies of whole structures, `a[i][j] = b[i][j]`, as copies of their members, where these are numbers.
fn copied_by_member(stmt: &mut Stmt, variables: &HashMap<String, Variable>, structures: &Structures) {
    let element = |expr: &Expr| {
        let (mut at, mut depth) = (expr, 0);
        while let ExprKind::Index(array, _) = &at.kind {
            (at, depth) = (array, depth + 1);
        }
        let ExprKind::Name(name) = &at.kind else { return None };
        let ctype = &variables.get(name)?.ctype;
        match ctype.element() {
            CType::Other(structure) if depth > 0 && ctype.depth() == depth => Some(structure.clone()),
            _ => None,
        }
    };
    stmt.walk_mut(&mut |stmt| {
        let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), span }) = &stmt.kind else {
            return;
        };
        let (Some(structure), Some(other)) = (element(target), element(value)) else { return };
        let Some(members) = structures.get(&structure).filter(|_| structure == other) else { return };
        if !members.values().all(|one| matches!(one, CType::Integer { .. } | CType::Floating(_))) {
            return;
        }
        let mut names: Vec<&String> = members.keys().collect();
        names.sort();
        let member = |object: &Expr, name: &String| Expr {
            kind: ExprKind::Member(Box::new(object.clone()), false, name.clone()),
            span: object.span.clone(),
        };
        let copies = names.into_iter().map(|name| {
            let kind = ExprKind::Assign(None, Box::new(member(target, name)), Box::new(member(value, name)));
            Stmt { kind: StmtKind::Expr(Expr { kind, span: span.clone() }), span: stmt.span.clone() }
        });
        stmt.kind = StmtKind::Block(copies.collect());
    });
}

/// The variable that a member is reached from, and the member's type.
pub(super) fn member<'a>(
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
