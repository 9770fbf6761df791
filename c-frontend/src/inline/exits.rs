//! `continue` and `return` as what they leave out.

use crate::ast::{Stmt, StmtKind};
use polyhedral::source::Span;

type Replaced<'a> = &'a dyn Fn(&Stmt) -> Option<Stmt>;

/// The body of a loop whose `continue`s stand under conditions: what follows them stands under their opposites. As it is
/// where that is not so simple.
pub(super) fn without_continue(body: Stmt) -> Stmt {
    let leaves = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Other(kind, ..) if kind == "continue");
    if !holds(&body, &leaves) {
        return body;
    }
    let span = body.span.clone();
    let list = match &body.kind {
        StmtKind::Block(list) => list.clone(),
        _ => vec![body.clone()],
    };
    match structured(list, &leaves, &|_| None, 0) {
        Ok(list) => Stmt { kind: StmtKind::Block(list), span },
        Err(_) => body,
    }
}

/// A function's body whose returns are replaced, each by the statement that is given for it or by nothing.
///
/// # Errors
/// The place of a return within a loop.
pub(super) fn without_returns(body: Vec<Stmt>, replaced: Replaced<'_>) -> Result<Vec<Stmt>, Span> {
    let leaves = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Return(_));
    structured(body, &leaves, replaced, 0)
}

/// Whether a statement of this kind stands in another one, outside of loops that it would leave.
fn holds(stmt: &Stmt, leaves: &dyn Fn(&Stmt) -> bool) -> bool {
    if leaves(stmt) {
        return true;
    }
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().any(|stmt| holds(stmt, leaves)),
        StmtKind::If(_, then, otherwise) => {
            holds(then, leaves) || otherwise.as_ref().is_some_and(|otherwise| holds(otherwise, leaves))
        }
        _ => false,
    }
}

const MOST_DEEP: usize = 40;

/// Statements in which what leaves is the last thing that is done.
fn structured(
    list: Vec<Stmt>,
    leaves: &dyn Fn(&Stmt) -> bool,
    replaced: Replaced<'_>,
    depth: usize,
) -> Result<Vec<Stmt>, Span> {
    let mut found = Vec::new();
    let mut rest = list.into_iter();
    while let Some(stmt) = rest.next() {
        if leaves(&stmt) {
            found.extend(replaced(&stmt));
            return Ok(found);
        }
        if !holds(&stmt, leaves) {
            // A return within a loop leaves that, too.
            let mut deep = None;
            stmt.walk(&mut |part| {
                if matches!(part.kind, StmtKind::Return(_)) {
                    deep.get_or_insert(part.span.clone());
                }
            });
            if let Some(span) = deep.filter(|_| leaves(&Stmt { kind: StmtKind::Return(None), span: 0..0 })) {
                return Err(span);
            }
            found.push(stmt);
            continue;
        }
        let span = stmt.span.clone();
        if depth >= MOST_DEEP {
            return Err(span);
        }
        let rest: Vec<Stmt> = rest.collect();
        let follow = |branch: Vec<Stmt>, rest: &[Stmt]| {
            // What is declared in a branch must not hide what follows.
            let declares = branch.iter().any(|stmt| matches!(stmt.kind, StmtKind::Declaration(_)));
            let mut all = branch;
            match declares && !rest.is_empty() {
                true if ends(&all, leaves) => {}
                true => return Err(span.clone()),
                false => all.extend(rest.iter().cloned()),
            }
            structured(all, leaves, replaced, depth + 1)
        };
        let parts = |stmt: Stmt| match stmt.kind {
            StmtKind::Block(list) => list,
            kind => vec![Stmt { kind, span: stmt.span }],
        };
        match stmt.kind {
            StmtKind::Block(list) => {
                let list = follow(list, &rest)?;
                found.push(Stmt { kind: StmtKind::Block(list), span: span.clone() });
            }
            StmtKind::If(condition, then, otherwise) => {
                let (then, otherwise) = (parts(*then), otherwise.map_or_else(Vec::new, |stmt| parts(*stmt)));
                // Both would go on with what follows, which would stand there twice.
                if !ends(&then, leaves) && !ends(&otherwise, leaves) && !rest.is_empty() {
                    return Err(span.clone());
                }
                let block = |list| Box::new(Stmt { kind: StmtKind::Block(list), span: span.clone() });
                let (then, otherwise) = (follow(then, &rest)?, follow(otherwise, &rest)?);
                let otherwise = (!otherwise.is_empty()).then(|| block(otherwise));
                found
                    .push(Stmt { kind: StmtKind::If(condition, block(then), otherwise), span: span.clone() });
            }
            _ => return Err(span),
        }
        return Ok(found);
    }
    Ok(found)
}

/// Whether nothing behind a list is reached.
fn ends(list: &[Stmt], leaves: &dyn Fn(&Stmt) -> bool) -> bool {
    list.last().is_some_and(|last| {
        leaves(last)
            || match &last.kind {
                StmtKind::Block(list) => ends(list, leaves),
                StmtKind::If(_, then, Some(otherwise)) => {
                    ends(std::slice::from_ref(then), leaves) && ends(std::slice::from_ref(otherwise), leaves)
                }
                _ => false,
            }
    })
}
