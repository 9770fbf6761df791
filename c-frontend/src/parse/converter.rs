//! The way from nodes of the grammar to our own tree: what every part of it needs.

use super::region::Structures;
use crate::ast::CType;
use crate::codes;
use crate::preprocess::Preprocessed;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::HashMap;
use std::ops::Range;
use tree_sitter::Node;

/// Deepest nesting of statements and expressions.
pub(super) const MOST_DEPTH: usize = 200;

/// Turns nodes of the grammar into our own tree.
pub(super) struct Converter<'a> {
    pub source: &'a Preprocessed,
    pub typedefs: HashMap<String, CType>,
    /// Names of numbers, from `enum`.
    pub constants: HashMap<String, i64>,
    pub structures: Structures,
    pub places: Vec<(Span, Range<usize>)>,
    pub depth: usize,
}

/// What is wrong.
pub(super) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl<'a> Converter<'a> {
    /// Without any declarations so far.
    pub fn new(source: &'a Preprocessed) -> Self {
        Converter {
            source,
            typedefs: HashMap::new(),
            constants: HashMap::new(),
            structures: HashMap::new(),
            places: Vec::new(),
            depth: 0,
        }
    }

    /// The place of a node in the user's file.
    pub fn span(&self, node: Node<'_>) -> Span {
        self.source.origin.span(node.byte_range())
    }

    /// The text of a node.
    pub fn text(&self, node: Node<'_>) -> &str {
        self.source.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Runs one level deeper.
    pub fn deeper<T>(&mut self, node: Node<'_>, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MOST_DEPTH {
            let message = format!("nested more than {MOST_DEPTH} deep");
            return Err(Box::new(Diagnostic::limitation(codes::TOO_DEEP, self.span(node), message)));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }
}
