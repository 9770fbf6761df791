//! Pointers to structures that take turns: `struct grid *s = a; a = b; b = s;`.
//!
//! What such statements do is to permute what some pointers point to, so that what all of these structures have in common stays
//! true: their sizes are the same in each step, if they are before the loop.

use crate::ast::{CType, Expr, ExprKind, Stmt, StmtKind, Variable};
use std::collections::{HashMap, HashSet};

/// Pointers to structures that statements assign in no other way.
#[derive(Default)]
pub(super) struct Turning {
    /// Those that take turns.
    pub pointers: HashSet<String>,
    /// Those that only hold one meanwhile.
    pub held: HashSet<String>,
}

/// The pointers to structures that take turns in a list of statements, wherever they do; none if one of them is assigned otherwise.
pub(super) fn turning(statements: &[Stmt], variables: &HashMap<String, Variable>) -> Turning {
    let mut runs = Vec::new();
    runs_of(statements, variables, &mut runs);
    for stmt in statements {
        stmt.walk(&mut |part| {
            if let StmtKind::Block(list) = &part.kind {
                runs_of(list, variables, &mut runs);
            }
        });
    }
    let moves =
        |target: &Expr| matches!(&target.kind, ExprKind::Name(name) if is_structures(variables, name));
    let (mut named, mut count) = (HashMap::new(), 0);
    for stmt in statements {
        stmt.walk_expressions(&mut |part| match &part.kind {
            ExprKind::Name(name) => *named.entry(name.clone()).or_insert(0) += 1,
            ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => {
                count += usize::from(moves(target));
                // A member that is a pointer may not change as well.
                if let ExprKind::Member(object, ..) = &target.kind
                    && moves(object)
                {
                    count = usize::MAX / 2;
                }
            }
            ExprKind::Unary(crate::ast::UnaryOp::Address, object) if moves(object) => count = usize::MAX / 2,
            _ => {}
        });
    }
    let assignments = |run: &Run| run.iter().filter(|one| !one.declared).count();
    if runs.is_empty() || runs.iter().map(assignments).sum::<usize>() != count {
        return Turning::default();
    }
    // How often the runs themselves name each.
    for one in runs.iter().flatten() {
        for name in [Some(&one.value), Some(&one.target).filter(|_| !one.declared)].into_iter().flatten() {
            if let Some(times) = named.get_mut(name) {
                *times -= 1;
            }
        }
    }
    let kept = |name: &String| named.get(name).is_some_and(|times| *times > 0);
    let mut found = Turning::default();
    for run in &runs {
        let mut holds: HashMap<&String, &String> = HashMap::new();
        for one in run {
            let value = holds.get(&one.value).copied().unwrap_or(&one.value);
            holds.insert(&one.target, value);
        }
        let declared: HashSet<&String> =
            run.iter().filter(|one| one.declared).map(|one| &one.target).collect();
        let own: HashSet<&String> =
            holds.keys().copied().filter(|name| !declared.contains(name) && kept(name)).collect();
        let values: HashSet<&String> = own.iter().map(|name| holds[name]).collect();
        // What is declared is named nowhere else, and hides nothing.
        let hidden = declared.iter().any(|name| kept(name) || variables.contains_key(*name));
        if own != values || own.is_empty() || hidden {
            return Turning::default();
        }
        found.held.extend(holds.keys().filter(|name| !own.contains(*name)).map(|name| (*name).clone()));
        found.pointers.extend(own.into_iter().cloned());
    }
    found
}

/// `target = value`, or its declaration with that value.
struct Move {
    target: String,
    value: String,
    declared: bool,
}

/// Moves that follow each other.
type Run = Vec<Move>;

fn runs_of(list: &[Stmt], variables: &HashMap<String, Variable>, runs: &mut Vec<Run>) {
    let mut run = Run::new();
    for stmt in list {
        match moved(stmt, variables, &run) {
            Some(moves) => run.extend(moves),
            None if run.is_empty() => {}
            None => runs.push(std::mem::take(&mut run)),
        }
    }
    if !run.is_empty() {
        runs.push(run);
    }
}

fn is_structures(variables: &HashMap<String, Variable>, name: &str) -> bool {
    variables.get(name).is_some_and(|one| points_to_structure(&one.ctype))
}

fn points_to_structure(ctype: &CType) -> bool {
    matches!(ctype, CType::Pointer(inner) if matches!(**inner, CType::Other(_)))
}

/// What a statement moves, if it does nothing else.
fn moved(stmt: &Stmt, variables: &HashMap<String, Variable>, before: &[Move]) -> Option<Run> {
    let structures = |name: &str| {
        is_structures(variables, name) || before.iter().any(|one| one.declared && one.target == name)
    };
    match &stmt.kind {
        StmtKind::Declaration(list) => list
            .iter()
            .map(|one| match one.value.as_ref().map(|value| &value.kind) {
                Some(ExprKind::Name(value)) if points_to_structure(&one.ctype) && structures(value) => {
                    Some(Move { target: one.name.clone(), value: value.clone(), declared: true })
                }
                _ => None,
            })
            .collect(),
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
            match (&target.kind, &value.kind) {
                (ExprKind::Name(target), ExprKind::Name(value))
                    if is_structures(variables, target) && structures(value) =>
                {
                    Some(vec![Move { target: target.clone(), value: value.clone(), declared: false }])
                }
                _ => None,
            }
        }
        _ => None,
    }
}
