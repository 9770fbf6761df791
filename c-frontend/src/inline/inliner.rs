//! What is known while calls are taken apart: the functions of the file, the calls around, and names that are not taken.

use crate::ast::{CType, Expr, Stmt, StmtKind, Variable};
use crate::codes;
use crate::nest::{Result, is_known_function};
use crate::parse::{File, Function, Handed, Structures, WrittenOut};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};

/// Deepest calls within calls.
const MOST_CALLS_DEEP: usize = 12;
/// Most calls that are taken apart in one region.
const MOST_CALLS: usize = 400;

/// Takes calls apart.
pub(super) struct Inliner<'a> {
    pub(super) file: &'a File<'a>,
    pub(super) structures: &'a Structures,
    /// The variables that can be used in the region.
    pub(super) variables: &'a HashMap<String, Variable>,
    /// Those that the region declares, with what was taken apart.
    pub(super) declared: HashMap<String, CType>,
    /// The functions that the file defines or declares.
    pub(super) own: HashSet<String>,
    /// The functions that are being taken apart, the outermost first.
    pub(super) around: Vec<String>,
    pub(super) calls: usize,
    /// The functions of the file that were taken apart already.
    pub(super) called: HashSet<String>,
    /// New names.
    pub(super) taken: HashSet<String>,
    /// The statements whose calls stay, and why.
    pub(super) kept: Vec<(Span, Diagnostic)>,
    /// The integers that keep the values they are declared with.
    pub(super) values: HashMap<String, Expr>,
    /// The statement of the region's own that is taken apart.
    pub(super) current: Span,
    /// Those whose functions take memory or give it back, for others to do the rest.
    pub(super) lent: Vec<Span>,
    /// What memory is taken for in them that does more than hold values of a step, and where.
    pub(super) obstacles: HashMap<Span, (String, Span)>,
    /// Those of which nobody does the rest.
    pub(super) own_memory: Vec<Span>,
    /// Whether memory may take the place of other memory.
    pub(super) hands_over: bool,
    /// Whether the statements are those of a step, and not of a call.
    pub(super) within_steps: bool,
    /// Where it does.
    pub(super) handed: Vec<Handed>,
    /// Local pointers of which nothing is left but what they point to.
    pub(super) written_out: Vec<WrittenOut>,
}

impl Inliner<'_> {
    pub(super) fn note_declarations(&mut self, stmt: &Stmt) {
        let mut found = Vec::new();
        stmt.walk(&mut |stmt| {
            if let StmtKind::Declaration(list) = &stmt.kind {
                found.extend(list.iter().map(|variable| (variable.name.clone(), variable.ctype.clone())));
            }
        });
        self.declared.extend(found);
    }

    /// Whether a name is that of a function of the program's.
    pub(super) fn is_own(&self, name: &str) -> bool {
        let hidden = |variable: &Variable| variable.ctype != CType::Other("function".to_owned());
        self.own.contains(name) && !self.variables.get(name).is_some_and(hidden)
    }

    /// The function of a call.
    pub(super) fn function(&mut self, name: &str, arguments: usize, place: &Span) -> Result<Function> {
        if self.around.iter().any(|other| other == name) {
            return refuse(name, place, "it calls itself", None);
        }
        if self.around.len() >= MOST_CALLS_DEEP || self.calls >= MOST_CALLS {
            return refuse(name, place, "there are too many calls within calls", None);
        }
        self.calls += 1;
        let found = match self.file.function(name) {
            Ok(None) => self.file.function_elsewhere(name, place),
            Ok(Some(mut function)) => {
                if !self.file.of_header(&mut function, place) && !self.called.insert(name.to_owned()) {
                    self.file.apart(&mut function);
                }
                Ok(Some(function))
            }
            found => found,
        };
        let mut function = match found {
            Ok(Some(function)) => function,
            Ok(None) if is_known_function(name) => {
                return refuse(name, place, "the program declares a function of this name itself", None);
            }
            Ok(None) => {
                let diagnostic = missing(name, place);
                return Err(Box::new(diagnostic));
            }
            Err(reason) => {
                return refuse(name, place, &reason.message, Some((reason.primary.span.clone(), "this")));
            }
        };
        function.body = super::ends::asked(function.body, &|name| self.own.contains(name));
        if function.parameters.len() != arguments {
            return refuse(
                name,
                place,
                "it has another number of parameters",
                Some((function.head, "defined here")),
            );
        }
        Ok(function)
    }

    /// A name that the program does not have.
    pub(super) fn fresh(&mut self, like: &str) -> String {
        let mut number = 2;
        loop {
            let name = format!("{like}_{number}");
            if !self.file.has_word(&name) && self.taken.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

/// A call that stays, and so keeps the loop from being tiled.
pub(super) fn refuse<T>(name: &str, place: &Span, reason: &str, related: Option<(Span, &str)>) -> Result<T> {
    let message =
        format!("the call of `{name}` in the time loop cannot be replaced by what the function does");
    let mut diagnostic = Diagnostic::limitation(codes::CALL, place.clone(), message).note(reason.to_owned());
    if let Some((span, label)) = related {
        diagnostic = diagnostic.related(span, label);
    }
    Err(Box::new(diagnostic.hint("write what it does in the loop, or call it behind the loop")))
}

fn missing(name: &str, place: &Span) -> Diagnostic {
    Diagnostic::limitation(
        codes::CALL,
        place.clone(),
        format!("a call of `{name}`, whose source is in another file"),
    )
    .note("a call in the time loop is replaced by what the function does")
    .hint("name the file with --with, or put the function into this file or into a header")
}
