//! Calls of the program's own functions within a loop, replaced by what the functions do.
//!
//! A parameter becomes the argument itself where both must mean the same at every place of the body: arrays and pointers
//! that the function does not set, and scalars that it does not assign, whose arguments nothing in the body changes. Other
//! scalars become variables of their own. Local variables get new names, so that none hides another one. What is left is
//! plain C without calls, in which each statement has its own place in the user's file.

mod bind;
mod effects;
mod ends;
mod exits;
mod expression;
mod inliner;
mod members;
mod memory;
mod rename;
mod sizes;
mod statement;
mod step_arrays;

use crate::ast::{Stmt, Variable};
use crate::parse::{Expanded, File, Structures};
use crate::small;
use inliner::Inliner;
use members::members_as_variables;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

/// The statements of a region without calls of the file's functions, and with members of structures as variables, which are
/// added to those that can be used.
pub fn expanded(
    mut statements: Vec<Stmt>,
    file: &File<'_>,
    variables: &mut HashMap<String, Variable>,
    structures: &Structures,
) -> Expanded {
    statements.iter_mut().for_each(step_arrays::without_memory);
    let (mut statements, kept) = inline(statements, file, variables);
    let mut own_arrays = step_arrays::taken_out(&mut statements, file, variables, false);
    small::written_out(&mut statements, file, variables);
    own_arrays.extend(step_arrays::taken_out(&mut statements, file, variables, true));
    small::planes_as_variables(&mut statements, variables);
    small::flat_planes_as_variables(&mut statements, variables);
    let members = members_as_variables(&mut statements, variables, structures);
    effects::without_idle(&mut statements, variables);
    Expanded { statements, kept, members, own_arrays }
}

/// The statements of a region without calls of the file's functions; the places of statements whose calls stay, each
/// with the reason.
fn inline(
    statements: Vec<Stmt>,
    file: &File<'_>,
    variables: &HashMap<String, Variable>,
) -> (Vec<Stmt>, Vec<(Span, Diagnostic)>) {
    let mut inliner = Inliner {
        file,
        variables,
        declared: HashMap::new(),
        own: file.declared_functions(),
        around: Vec::new(),
        calls: 0,
        called: HashSet::new(),
        taken: HashSet::new(),
        kept: Vec::new(),
    };
    for stmt in &statements {
        inliner.note_declarations(stmt);
    }
    let mut result = Vec::new();
    for stmt in statements {
        // Outside of functions, what cannot be taken apart stays.
        if let Err(reason) = inliner.statement(stmt.clone(), &mut result) {
            inliner.kept.push((stmt.span.clone(), *reason));
            result.push(stmt);
        }
    }
    (result, inliner.kept)
}
