//! What the stencil needs of a body: the names that arrays are computed of, and of each statement the part that is left where
//! scalars that nobody needs are left out.

use super::index::Index;
use super::names;
use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use crate::parse::Region;
use std::collections::HashSet;

/// The names that the computation of arrays needs.
pub(super) fn needed<'s>(
    region: &Region,
    list: impl Iterator<Item = &'s Stmt>,
    movers: &[Index],
) -> HashSet<String> {
    let list: Vec<&Stmt> = list.collect();
    let mut needed = HashSet::new();
    loop {
        let before = needed.len();
        for stmt in &list {
            add_needed(region, stmt, &mut Vec::new(), &mut needed, movers);
        }
        if needed.len() == before {
            return needed;
        }
    }
}

fn add_needed<'s>(
    region: &Region,
    stmt: &'s Stmt,
    around: &mut Vec<&'s Expr>,
    needed: &mut HashSet<String>,
    movers: &[Index],
) {
    let depth = around.len();
    match &stmt.kind {
        StmtKind::Block(list) => {
            list.iter().for_each(|stmt| add_needed(region, stmt, around, needed, movers));
        }
        StmtKind::For(source) => {
            around.extend(source.condition.iter().chain(&source.step));
            if let Some(start) = &source.start {
                match &start.kind {
                    StmtKind::Expr(expr) => around.push(expr),
                    StmtKind::Declaration(own) => {
                        around.extend(own.iter().filter_map(|one| one.value.as_ref()))
                    }
                    _ => {}
                }
            }
            add_needed(region, &source.body, around, needed, movers);
        }
        StmtKind::While(source) => {
            around.push(&source.condition);
            add_needed(region, &source.body, around, needed, movers);
        }
        StmtKind::If(condition, then, otherwise) => {
            around.push(condition);
            add_needed(region, then, around, needed, movers);
            if let Some(otherwise) = otherwise {
                add_needed(region, otherwise, around, needed, movers);
            }
        }
        StmtKind::Declaration(own) => {
            for one in own {
                if needed.contains(&one.name) {
                    needed.extend(one.value.iter().chain(around.iter().copied()).flat_map(names::of));
                }
            }
        }
        StmtKind::Expr(expr) => expr.walk(&mut |part| {
            let (ExprKind::Assign(_, target, _) | ExprKind::Step(_, target)) = &part.kind else { return };
            let wanted = match &target.kind {
                ExprKind::Name(name) => {
                    is_pointer(region, name)
                        || (needed.contains(name) && !movers.iter().any(|one| one.name == *name))
                }
                _ => true,
            };
            if wanted {
                needed.extend(std::iter::once(part).chain(around.iter().copied()).flat_map(names::of));
            }
        }),
        StmtKind::Return(_) | StmtKind::Empty | StmtKind::Other(..) => {}
    }
    around.truncate(depth);
}

/// What the stencil needs of a statement. What is left out changes scalars only.
pub(super) fn stripped(region: &Region, stmt: &Stmt, needed: &HashSet<String>) -> Option<Stmt> {
    let again = |kind| Some(Stmt { kind, span: stmt.span.clone() });
    match &stmt.kind {
        StmtKind::Empty => None,
        StmtKind::Block(list) => {
            let kept: Vec<Stmt> = list.iter().filter_map(|stmt| stripped(region, stmt, needed)).collect();
            if kept.is_empty() { None } else { again(StmtKind::Block(kept)) }
        }
        StmtKind::For(source) => {
            let head = source.condition.iter().all(|expr| names::only_reads(region, expr));
            match stripped(region, &source.body, needed) {
                Some(body) => {
                    let mut own = source.clone();
                    own.body = body;
                    again(StmtKind::For(own))
                }
                None if head => None,
                None => Some(stmt.clone()),
            }
        }
        StmtKind::If(condition, then, otherwise) => {
            let (first, second) = (
                stripped(region, then, needed),
                otherwise.as_ref().and_then(|otherwise| stripped(region, otherwise, needed)),
            );
            if first.is_none() && second.is_none() && names::only_reads(region, condition) {
                return None;
            }
            let empty = Stmt { kind: StmtKind::Block(Vec::new()), span: then.span.clone() };
            let second = second.map(Box::new);
            again(StmtKind::If(condition.clone(), Box::new(first.unwrap_or(empty)), second))
        }
        StmtKind::Declaration(own) => {
            let pure = |one: &Variable| {
                one.ctype.depth() == 0
                    && one
                        .value
                        .iter()
                        .all(|value| names::only_reads(region, value) || reads_clock(region, value))
            };
            let kept: Vec<Variable> =
                own.iter().filter(|one| needed.contains(&one.name) || !pure(one)).cloned().collect();
            if kept.is_empty() { None } else { again(StmtKind::Declaration(kept)) }
        }
        StmtKind::Expr(expr) => stripped_expression(region, expr, needed)
            .map(|expr| Stmt { kind: StmtKind::Expr(expr), span: stmt.span.clone() }),
        StmtKind::While(_) | StmtKind::Return(_) | StmtKind::Other(..) => Some(stmt.clone()),
    }
}

fn stripped_expression(region: &Region, expr: &Expr, needed: &HashSet<String>) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Comma(left, right) => {
            match (stripped_expression(region, left, needed), stripped_expression(region, right, needed)) {
                (Some(left), Some(right)) => Some(Expr {
                    kind: ExprKind::Comma(Box::new(left), Box::new(right)),
                    span: expr.span.clone(),
                }),
                (left, right) => left.or(right),
            }
        }
        ExprKind::Assign(_, target, value) => match &target.kind {
            ExprKind::Name(name)
                if !needed.contains(name)
                    && !is_pointer(region, name)
                    && (names::only_reads(region, value) || reads_clock(region, value)) =>
            {
                None
            }
            _ => Some(expr.clone()),
        },
        ExprKind::Step(_, target) => match &target.kind {
            ExprKind::Name(name) if !needed.contains(name) && !is_pointer(region, name) => None,
            _ => Some(expr.clone()),
        },
        ExprKind::Call(function, _) => {
            let clock = matches!(&function.kind, ExprKind::Name(name)
                if names::is_clock(name) && !region.functions.contains_key(name));
            if clock { None } else { Some(expr.clone()) }
        }
        _ => Some(expr.clone()),
    }
}

/// Whether a statement of the body writes what is told it, and nothing else. What a loop or a block writes besides is no such
/// statement: it would be written as often as the loop says.
pub(super) fn writes_only(region: &Region, stmt: &Stmt) -> bool {
    let StmtKind::Expr(Expr { kind: ExprKind::Call(function, arguments), .. }) = &stmt.kind else {
        return false;
    };
    matches!(&function.kind, ExprKind::Name(name) if names::is_output(name) && !region.functions.contains_key(name))
        && arguments.iter().all(|one| is_told(region, one))
}

/// Whether a value is of clocks alone: it changes nothing but what they say.
fn reads_clock(region: &Region, expr: &Expr) -> bool {
    let calls = names::calls(region, expr);
    !calls.is_empty()
        && calls.iter().all(|name| names::is_clock(name) && !region.functions.contains_key(name))
        && !has_assignment(expr)
}

fn has_assignment(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| found |= matches!(part.kind, ExprKind::Assign(..) | ExprKind::Step(..)));
    found
}

/// Whether an argument of a function for output is a text, a stream or a number, not a place in memory.
fn is_told(region: &Region, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Other(kind, _) => matches!(kind.as_str(), "string literal" | "concatenated string"),
        ExprKind::Name(name) => region.variables.get(name).is_none_or(|one| match &one.ctype {
            CType::Integer { .. } | CType::Floating(_) => true,
            CType::Pointer(to) => matches!(&**to, CType::Other(name) if name == "FILE"),
            _ => false,
        }),
        _ => {
            let mut plain = names::only_reads(region, expr);
            expr.walk(&mut |part| match &part.kind {
                ExprKind::Index(..) | ExprKind::Unary(..) | ExprKind::Member(..) => {
                    plain &= matches!(&part.kind, ExprKind::Unary(operator, _)
                        if !matches!(operator, crate::ast::UnaryOp::Dereference | crate::ast::UnaryOp::Address));
                }
                ExprKind::Name(name) => {
                    plain &= region.variables.get(name).is_none_or(is_scalar);
                }
                _ => {}
            });
            plain
        }
    }
}

/// Whether a name may stand for a pointer: one that is declared outside, or by a body itself.
pub(super) fn is_pointer(region: &Region, name: &str) -> bool {
    region.variables.get(name).map_or(!region.numbers.contains(name), |one| one.ctype.depth() > 0)
}

pub(super) fn is_scalar(variable: &Variable) -> bool {
    matches!(variable.ctype, CType::Integer { .. } | CType::Floating(_))
}
