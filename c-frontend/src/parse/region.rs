//! What is known of a region and of what surrounds it.

use crate::ast::{CType, Stmt, Variable};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A region and what surrounds it.
#[derive(Debug, Clone)]
pub struct Region {
    /// Its statements.
    pub statements: Vec<Stmt>,
    /// From `#pragma scop` to the end of `#pragma endscop`.
    pub span: Span,
    /// `#pragma scop` itself.
    pub mark: Span,
    /// The name of the function.
    pub function: String,
    /// The variables that can be used in it, by name.
    pub variables: HashMap<String, Variable>,
    /// Names that stand for numbers wherever the region declares them.
    pub numbers: HashSet<String>,
    /// Names that are used behind the region, anywhere in a loop around it, or in another function.
    pub used_behind: HashSet<String>,
    /// Functions that the file itself defines.
    pub functions: HashMap<String, Span>,
    /// Names that the file assigns or takes the address of, anywhere; initial values do not count.
    pub changed: HashSet<String>,
    /// Variables that pointers may reach: names that the file takes the address of, and those of other files.
    pub addressed: HashSet<String>,
    /// Structures and the types of their members.
    pub structures: Structures,
    /// The variables that are members of structures and pointers.
    pub members: Vec<String>,
    /// The arrays that each step of the time loop declares, at the place of the statement of the step that does.
    pub own_arrays: Vec<Variable>,
    /// Where memory that a step takes takes the place of other memory.
    pub handed: Vec<Handed>,
    /// Local pointers that stand for what they point to wherever their block names them.
    pub written_out: Vec<WrittenOut>,
    /// Whether structures of one type are taken to hold the same sizes, of which the statements ask.
    pub assumed: bool,
    /// Whether the loops are for processors alone.
    pub processor: bool,
    /// The statements in which calls of the program's functions stay, and why.
    pub kept: Vec<(Span, Diagnostic)>,
    /// Where statements stand in the user's file, and in the preprocessed text.
    pub places: Vec<(Span, Range<usize>)>,
}

/// A local pointer that always points to the same place, and of which nothing is left but that place.
#[derive(Debug, Clone)]
pub struct WrittenOut {
    /// The pointer, with what it points to.
    pub pointer: Variable,
    /// The statement that declares it.
    pub declaration: Span,
}

/// Memory of a step that takes the place of other memory.
#[derive(Debug, Clone)]
pub struct Handed {
    /// The array whose memory is given back.
    pub array: String,
    /// The one that takes its place.
    pub by: String,
    /// Where it does.
    pub place: Span,
    /// The statements of the step that belong together, where they are not one.
    pub places: Vec<Span>,
}

impl Region {
    /// Declares a variable of the rewritten program.
    pub fn declare(&mut self, name: &str, ctype: CType, span: &Span) {
        let variable = Variable {
            name: name.to_owned(),
            ctype,
            value: None,
            span: span.clone(),
            global: false,
            constant: false,
        };
        self.variables.insert(name.to_owned(), variable);
    }
}

/// The types of members, by the names of structures.
pub type Structures = HashMap<String, HashMap<String, CType>>;
