//! Loops that are the same but for the names of what they declare, as those of a function that is called twice: names of the later
//! ones become those of the first, so that they can be compared.

use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind};
use std::collections::HashSet;

/// Gives what a loop declares the names that an earlier one has for it, where nothing else in it has these.
pub(super) fn given(list: &mut [Stmt]) {
    for at in 1..list.len() {
        let (before, rest) = list.split_at_mut(at);
        let Some(stmt) = rest.first_mut() else { continue };
        if !matches!(stmt.kind, StmtKind::For(_)) {
            continue;
        }
        let own = declared(stmt);
        let earlier = before.iter().filter(|stmt| matches!(stmt.kind, StmtKind::For(_))).map(declared);
        let alike = |other: &Vec<(String, CType)>| {
            own.len() == other.len()
                && own.iter().zip(other).all(|((a, one), (b, two))| one == two && stem(a) == stem(b))
        };
        if own.is_empty() {
            continue;
        }
        let Some(other) = earlier.into_iter().find(alike) else { continue };
        let used = words(stmt);
        let distinct: HashSet<&String> = own.iter().map(|(name, _)| name).collect();
        let free = own.iter().zip(&other).all(|((a, _), (b, _))| a == b || !used.contains(b));
        if distinct.len() == own.len() && free {
            for ((from, _), (to, _)) in own.iter().zip(&other) {
                rename(stmt, from, to);
            }
        }
    }
}

/// A name without the number that tells it from others.
fn stem(name: &str) -> &str {
    let number = name.len() - name.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    if number == 0 { name } else { name[..name.len() - number].trim_end_matches('_') }
}

/// What a loop declares within its body, in order.
fn declared(stmt: &Stmt) -> Vec<(String, CType)> {
    let mut found = Vec::new();
    stmt.walk(&mut |part| {
        if let StmtKind::Declaration(list) = &part.kind {
            found.extend(list.iter().map(|one| (one.name.clone(), one.ctype.clone())));
        }
    });
    found
}

fn words(stmt: &Stmt) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut note = |name: &str| {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        found.extend(name.split(|letter| !is_word(letter)).map(str::to_owned));
    };
    stmt.walk_expressions(&mut |part| match &part.kind {
        ExprKind::Name(name) | ExprKind::Other(_, name) => note(name),
        _ => {}
    });
    stmt.walk(&mut |part| match &part.kind {
        StmtKind::Declaration(list) => list.iter().for_each(|one| note(&one.name)),
        StmtKind::Other(_, names) => names.iter().for_each(|name| note(name)),
        _ => {}
    });
    found
}

/// Calls a variable something else.
pub(super) fn rename(stmt: &mut Stmt, from: &str, to: &str) {
    let swap = |part: &mut Expr| {
        if let ExprKind::Name(name) = &mut part.kind
            && name == from
        {
            to.clone_into(name);
        }
    };
    stmt.walk_expressions_mut(&mut |part| swap(part));
    stmt.walk_mut(&mut |part| match &mut part.kind {
        StmtKind::Declaration(list) => again(list, from, to),
        StmtKind::For(source) => {
            if let Some(Stmt { kind: StmtKind::Declaration(list), .. }) = &mut source.start {
                again(list, from, to);
            }
        }
        _ => {}
    });
}

fn again(list: &mut [crate::ast::Variable], from: &str, to: &str) {
    list.iter_mut().filter(|one| one.name == from).for_each(|one| to.clone_into(&mut one.name));
}
