//! Arrays that the statements of each step declare, such as `double next[n][m];`: what they hold is wanted within a step alone, so
//! that the same memory does for all steps. They become arrays of the time loop, which the rewritten program makes itself.

use super::members::member;
use super::rename::assigns_member;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, Floating, Stmt, StmtKind, UnaryOp, Variable};
use crate::integer::literal;
use crate::nest::assigned;
use crate::parse::{File, Structures};
use polyhedral::source::Span;
use std::collections::HashMap;

/// Takes the declarations of arrays out of the body of a loop, and adds them to the variables.
///
/// `small`: also those that may be the values of one point.
pub(super) fn taken_out(
    statements: &mut [Stmt],
    file: &File<'_>,
    variables: &mut HashMap<String, Variable>,
    structures: &Structures,
    small: bool,
) -> Vec<Variable> {
    let mut changed = Vec::new();
    let mut declared: HashMap<String, usize> = HashMap::new();
    for stmt in statements.iter() {
        changed.extend(assigned(stmt).1);
        stmt.walk(&mut |part| {
            let mut note = |list: &[Variable]| {
                list.iter().for_each(|one| *declared.entry(one.name.clone()).or_default() += 1);
            };
            match &part.kind {
                StmtKind::Declaration(list) => note(list),
                StmtKind::For(source) => {
                    if let Some(StmtKind::Declaration(list)) = source.start.as_ref().map(|start| &start.kind)
                    {
                        note(list);
                    }
                }
                _ => {}
            }
        });
    }
    let before: Vec<Stmt> = statements.to_vec();
    let kept = |expr: &Expr, variables: &HashMap<String, Variable>| {
        let ExprKind::Member(_, _, name) = &expr.kind else { return false };
        match member(expr, variables, structures, &HashMap::new()) {
            Some((root, CType::Integer { .. })) => {
                !changed.iter().any(|name| name == root)
                    && !declared.contains_key(root)
                    && !assigns_member(&before, name)
            }
            _ => false,
        }
    };
    let wanted = |one: &Variable, variables: &HashMap<String, Variable>| {
        let known = |expr: &Expr| {
            let ExprKind::Name(name) = &expr.kind else { return kept(expr, variables) };
            let own = variables.get(name).filter(|own| matches!(own.ctype, CType::Integer { .. }));
            // Nothing changes it, also where nobody sees it.
            own.is_some_and(|own| file.is_seen(own))
                && !changed.contains(name)
                && !declared.contains_key(name)
        };
        !one.global
            && !one.constant
            && one.value.is_none()
            && declared.get(&one.name) == Some(&1)
            && !variables.contains_key(&one.name)
            && matches!(one.ctype, CType::Array(..))
            && (small || !is_small(&one.ctype))
            && is_known(&one.ctype, &known)
    };
    let mut found = Vec::new();
    for stmt in statements {
        let body = match &mut stmt.kind {
            StmtKind::For(source) => &mut source.body,
            StmtKind::While(source) => &mut source.body,
            _ => continue,
        };
        let before = found.len();
        if let StmtKind::Block(list) = &mut body.kind {
            take(list, None, &|one| wanted(one, variables), &mut found);
        }
        // A loop whose body is a call and nothing else.
        let outside = |one: &&mut Variable| one.span.start < stmt.span.start || stmt.span.end < one.span.end;
        found[before..].iter_mut().filter(outside).for_each(|one| one.span = stmt.span.clone());
    }
    for one in &found {
        variables.insert(one.name.clone(), one.clone());
    }
    found
}

/// Takes declarations out of a block and of those in it, which each step comes to once. Their place becomes that of the statement of the
/// step that they belong to: `around`, within one.
fn take(
    list: &mut Vec<Stmt>,
    around: Option<&Span>,
    wanted: &dyn Fn(&Variable) -> bool,
    found: &mut Vec<Variable>,
) {
    for stmt in list.iter_mut() {
        let span = around.unwrap_or(&stmt.span).clone();
        match &mut stmt.kind {
            StmtKind::Block(inner) => take(inner, Some(&span), wanted, found),
            StmtKind::Declaration(own) => {
                for one in std::mem::take(own) {
                    if wanted(&one) {
                        found.push(Variable { span: span.clone(), ..one });
                    } else {
                        own.push(one);
                    }
                }
            }
            _ => {}
        }
    }
    list.retain(|stmt| !matches!(&stmt.kind, StmtKind::Declaration(own) if own.is_empty()));
}

/// Most elements of an array that holds the values of one point.
const MOST_OF_A_POINT: i64 = 32;

/// Whether an array has so few elements that they may be the values of one point, from point to point.
fn is_small(ctype: &CType) -> bool {
    let (mut elements, mut at) = (1_i64, ctype);
    while let CType::Array(inner, extent) = at {
        match extent.as_deref().and_then(literal) {
            Some(extent) => elements = elements.saturating_mul(extent),
            None => return false,
        }
        at = inner;
    }
    elements <= MOST_OF_A_POINT
}

/// Whether an array is one of numbers, whose extents are sums and products of integers that are known before the loop.
fn is_known(ctype: &CType, known: &dyn Fn(&Expr) -> bool) -> bool {
    match ctype {
        CType::Array(inner, Some(extent)) => is_number(extent, known) && is_known(inner, known),
        CType::Floating(Floating::Float | Floating::Double) | CType::Integer { .. } => true,
        _ => false,
    }
}

fn is_number(expr: &Expr, known: &dyn Fn(&Expr) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Integer { .. } => true,
        ExprKind::Name(_) | ExprKind::Member(..) => known(expr),
        // An array that is too large by what a conversion cuts off does, too.
        ExprKind::Cast(CType::Integer { .. }, a) => is_number(a, known),
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, a, b) => {
            is_number(a, known) && is_number(b, known)
        }
        ExprKind::Unary(UnaryOp::Plus, a) => is_number(a, known),
        _ => false,
    }
}
