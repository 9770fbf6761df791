//! Branches that end the program: `if (j == 0) { fprintf(stderr, ..); exit(1); }` in a function that is called.
//!
//! Whether they are taken is asked before the loop, as [`ENDS`]`(condition)`: where it would be, the loop runs as it is written.
//! A function that is a value has [`END`] for the value that it does not return then.

use super::rename::is_pure;
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use crate::nest::{END, ENDS};
use crate::parse::FAILED;
use polyhedral::source::Span;

/// Statements in which such branches are questions. `own`: the functions of the program.
pub(super) fn asked(list: Vec<Stmt>, own: &dyn Fn(&str) -> bool) -> Vec<Stmt> {
    let mut found = Vec::new();
    for stmt in list {
        let span = stmt.span.clone();
        match stmt.kind {
            StmtKind::If(condition, then, otherwise) if is_pure(&condition) => {
                let question = |condition| Stmt {
                    kind: StmtKind::Expr(made(
                        ExprKind::Call(
                            Box::new(made(ExprKind::Name(ENDS.to_owned()), &span)),
                            vec![condition],
                        ),
                        &span,
                    )),
                    span: span.clone(),
                };
                if ends(&then, own) {
                    found.push(question(condition));
                    found.extend(asked(otherwise.into_iter().map(|stmt| *stmt).collect(), own));
                } else if otherwise.as_ref().is_some_and(|otherwise| ends(otherwise, own)) {
                    let not = made(ExprKind::Unary(UnaryOp::Not, Box::new(condition)), &span);
                    found.push(question(not));
                    found.extend(asked(vec![*then], own));
                } else {
                    let branch = |stmt: Box<Stmt>| {
                        let place = stmt.span.clone();
                        let mut list = asked(vec![*stmt], own);
                        Box::new(match list.len() {
                            1 => list.remove(0),
                            _ => Stmt { kind: StmtKind::Block(list), span: place },
                        })
                    };
                    let kind = StmtKind::If(condition, branch(then), otherwise.map(branch));
                    found.push(Stmt { kind, span });
                }
            }
            StmtKind::Block(inner) => found.push(Stmt { kind: StmtKind::Block(asked(inner, own)), span }),
            kind => found.push(Stmt { kind, span }),
        }
    }
    found
}

/// Whether a statement never goes on with what follows it.
fn ends(stmt: &Stmt, own: &dyn Fn(&str) -> bool) -> bool {
    let last = match &stmt.kind {
        StmtKind::Block(list) => {
            let plain = list.iter().all(|stmt| matches!(stmt.kind, StmtKind::Expr(_) | StmtKind::Empty));
            list.last().filter(|_| plain)
        }
        _ => Some(stmt),
    };
    let Some(StmtKind::Expr(Expr { kind: ExprKind::Call(function, _), .. })) = last.map(|stmt| &stmt.kind)
    else {
        return false;
    };
    matches!(&function.kind, ExprKind::Name(name)
        if matches!(name.as_str(), "exit" | "abort" | "_Exit" | "_exit" | "quick_exit" | FAILED) && !own(name))
}

/// Either of two conditions.
pub(super) fn either(a: Expr, b: Expr) -> Expr {
    let span = b.span.clone();
    match crate::integer::literal(&a) {
        Some(0) => b,
        _ => made(ExprKind::Binary(BinaryOp::Or, Box::new(a), Box::new(b)), &span),
    }
}

/// A value that is there only where the program has not ended.
pub(super) fn unless(ended: &Expr, value: Expr) -> Expr {
    if crate::integer::literal(ended) == Some(0) {
        return value;
    }
    let span = value.span.clone();
    let end = made(ExprKind::Other(END.to_owned(), END.to_owned()), &ended.span);
    made(ExprKind::Conditional(Box::new(ended.clone()), Box::new(end), Box::new(value)), &span)
}

fn made(kind: ExprKind, span: &Span) -> Expr {
    Expr { kind, span: span.clone() }
}
