//! Calls of the program's own functions within a loop, replaced by what the functions do.
//!
//! A parameter becomes the argument itself where both must mean the same at every place of the body: arrays and pointers
//! that the function does not set, and scalars that it does not assign, whose arguments nothing in the body changes. Other
//! scalars become variables of their own. Local variables get new names, so that none hides another one. What is left is
//! plain C without calls, in which each statement has its own place in the user's file.

mod bind;
mod columns;
mod effects;
mod ends;
mod exits;
mod expression;
mod flat_loops;
mod had;
mod handed;
mod heap;
mod inliner;
mod members;
mod memory;
mod order;
mod rename;
mod rows;
mod same_sizes;
mod sizes;
mod statement;
mod step_arrays;
mod strides;
mod sums;
mod taking;
mod turning;
mod values;

use crate::ast::{Stmt, Variable};
use crate::parse::{Expanded, File, Handed, Structures, WrittenOut};
use crate::small;
use inliner::Inliner;
use members::members_as_variables;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

/// What is taken for granted of a loop.
#[derive(Default, Clone, Copy)]
pub struct Way {
    /// Its steps run one at a time: memory that takes the place of other memory is the program's.
    pub alone: bool,
    /// Structures of one type hold the same sizes, of which the loop asks.
    pub same_sizes: bool,
}

/// Makes of the statements of a region those without calls of the file's functions, and with members of structures as variables, which
/// are added to those that can be used.
pub fn expanded(
    way: Way,
) -> impl Fn(Vec<Stmt>, &File<'_>, &mut HashMap<String, Variable>, &Structures) -> Expanded {
    move |statements, file, variables, structures| expanded_by(statements, file, variables, structures, way)
}

fn expanded_by(
    statements: Vec<Stmt>,
    file: &File<'_>,
    variables: &mut HashMap<String, Variable>,
    structures: &Structures,
    way: Way,
) -> Expanded {
    let Inlined { mut statements, kept, handed, written_out } =
        inline(statements, file, variables, structures, !way.alone);
    let sizes = match way.same_sizes {
        true => same_sizes::assumed(&mut statements, variables, structures),
        false => Vec::new(),
    };
    let mut own_arrays = step_arrays::taken_out(&mut statements, file, variables, structures, false);
    small::written_out(&mut statements, file, variables);
    own_arrays.extend(step_arrays::taken_out(&mut statements, file, variables, structures, true));
    small::planes_as_variables(&mut statements, variables);
    small::flat_planes_as_variables(&mut statements, variables);
    let mut members = members_as_variables(&mut statements, variables, structures);
    effects::without_idle(&mut statements, variables);
    let assumed = !sizes.is_empty();
    members.extend(sizes);
    Expanded { statements, kept, members, own_arrays, handed, written_out, assumed }
}

/// Statements without calls.
struct Inlined {
    statements: Vec<Stmt>,
    /// The places of statements whose calls stay, each with the reason.
    kept: Vec<(Span, Diagnostic)>,
    /// Where memory takes the place of other memory.
    handed: Vec<Handed>,
    /// Local pointers that are written out.
    written_out: Vec<WrittenOut>,
}

/// The statements of a region without calls of the file's functions.
fn inline(
    statements: Vec<Stmt>,
    file: &File<'_>,
    variables: &HashMap<String, Variable>,
    structures: &Structures,
    hands_over: bool,
) -> Inlined {
    let (mut own_memory, mut obstacles) = (Vec::new(), HashMap::new());
    loop {
        let mut inliner = Inliner {
            file,
            structures,
            variables,
            declared: HashMap::new(),
            own: file.declared_functions(),
            around: Vec::new(),
            calls: 0,
            called: HashSet::new(),
            taken: HashSet::new(),
            kept: Vec::new(),
            values: HashMap::new(),
            current: 0..0,
            lent: Vec::new(),
            obstacles,
            own_memory,
            hands_over,
            within_steps: false,
            handed: Vec::new(),
            written_out: Vec::new(),
        };
        for stmt in &statements {
            inliner.note_declarations(stmt);
        }
        inliner.note_values_around(&statements);
        let mut result = Vec::new();
        for stmt in &statements {
            // Outside of functions, what cannot be taken apart stays.
            if let Err(reason) = inliner.statement(stmt.clone(), &mut result) {
                inliner.kept.push((stmt.span.clone(), *reason));
                result.push(stmt.clone());
            }
        }
        inliner.without_memory_of_steps(&mut result);
        // Memory that a call takes and no other one gives back is a reason to leave the call as it is.
        let left = inliner.own_memory_left(&result);
        if left.is_empty() {
            inliner.flat_loops(&mut result);
            let Inliner { kept, handed, written_out, .. } = inliner;
            return Inlined { statements: result, kept, handed, written_out };
        }
        own_memory = [inliner.own_memory, left].concat();
        obstacles = inliner.obstacles;
    }
}
