//! Stage 2: the syntax of the region and of what it needs: the statements, the declarations in scope, the function.

mod converter;
mod declare;
mod expression;
pub(crate) mod literal;
mod names;
mod region;
mod scope;
mod statement;

pub use region::{Region, Structures};

use crate::ast::{Stmt, StmtKind, Variable};
use crate::codes;
use crate::preprocess::{Mark, Preprocessed};
use converter::{Converter, Result};
use names::{addressed, changed, functions, names_within};
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use std::collections::HashMap;
use std::sync::Arc;
use tree_sitter::{Node, Parser, Tree};

/// The region of a program.
///
/// # Errors
/// No region, several, or one that cannot be parsed.
pub fn parse(source: &Preprocessed) -> std::result::Result<Region, Diagnostics> {
    region(source).map_err(|diagnostic| Diagnostics::new(Arc::clone(&source.source), vec![*diagnostic]))
}

fn region(source: &Preprocessed) -> Result<Region> {
    let (begin, end) = marks(source)?;
    let tree = tree(source)?;
    let root = tree.root_node();
    let parts = statements_between(root, begin.offset, end.offset);
    let span = begin.span.start..end.span.end;
    if let Some(broken) = parts.iter().find_map(|part| first_error(*part)) {
        return Err(Box::new(
            Diagnostic::error(
                codes::SYNTAX,
                source.origin.span(broken.byte_range()),
                "this could not be parsed",
            )
            .note("a region may hold plain C only, without extensions of a compiler"),
        ));
    }
    let misplaced = |message: &str| {
        Box::new(
            Diagnostic::error(codes::SCOP_PLACE, begin.span.clone(), message)
                .related(end.span.clone(), "the region ends here")
                .hint("put the two pragmas directly before and behind the time loop"),
        )
    };
    let Some(first) = parts.first() else {
        return Err(misplaced("the region is empty"));
    };
    let parent = first.parent();
    let own_type =
        |node: &&Node<'_>| matches!(node.kind(), "struct_specifier" | "union_specifier" | "enum_specifier");
    if let Some(part) = parts.iter().find(own_type) {
        return Err(Box::new(
            Diagnostic::limitation(
                codes::DECLARATION,
                source.origin.span(part.byte_range()),
                "a type is declared in the region",
            )
            .hint("declare types before `#pragma scop`"),
        ));
    }
    let statement = |node: &Node<'_>| {
        node.kind().ends_with("_statement")
            || matches!(node.kind(), "declaration" | "type_definition" | "comment")
    };
    if !parts.iter().all(|part| part.parent() == parent && statement(part)) {
        return Err(misplaced("the region does not hold whole statements"));
    }
    let Some(function) = ancestor(*first, "function_definition") else {
        return Err(misplaced("the region does not stand in a function"));
    };
    let mut converter = Converter {
        source,
        typedefs: HashMap::new(),
        constants: HashMap::new(),
        structures: HashMap::new(),
        places: Vec::new(),
        depth: 0,
    };
    let mut scope = converter.scope(*first, function)?;
    for (name, value) in [("true", 1), ("false", 0)] {
        if !scope.variables.contains_key(name) {
            converter.constants.entry(name.to_owned()).or_insert(value);
        }
    }
    let mut statements = Vec::new();
    for part in &parts {
        statements.push(converter.statement(*part)?);
    }
    statements.retain(|stmt| stmt.kind != StmtKind::Empty);
    declare_around_loops(&statements, &mut scope.variables)?;
    let outer_loop = outermost_loop(*first, function);
    let from = outer_loop.map_or(end.offset, |outer| outer.start_byte());
    let to = function.end_byte();
    let mut used_behind = Vec::new();
    names_within(root, &source.text, &mut |range, name| {
        let inside = range.start >= begin.offset && range.end <= end.offset;
        let own = range.start >= function.start_byte() && range.end <= to;
        // A local variable of another function is another variable.
        let elsewhere = !own
            && scope.variables.get(name).is_some_and(|variable| {
                variable.global && variable.span != source.origin.span(range.clone())
            });
        if !inside && (elsewhere || (own && range.start >= from)) {
            used_behind.push(name.to_owned());
        }
    });
    Ok(Region {
        statements,
        span,
        mark: begin.span.clone(),
        function: scope.function,
        variables: scope.variables,
        used_behind,
        functions: functions(root, source),
        changed: changed(root, &source.text),
        addressed: addressed(root, &source.text),
        structures: converter.structures,
        places: converter.places,
    })
}

/// Adds what a region declares outside its loops to the variables that can be used in it. One name must not stand for
/// two variables there: which of them a statement means would depend on its place.
fn declare_around_loops(statements: &[Stmt], variables: &mut HashMap<String, Variable>) -> Result<()> {
    let mut open: Vec<&Stmt> = statements.iter().rev().collect();
    while let Some(stmt) = open.pop() {
        match &stmt.kind {
            StmtKind::Block(list) => open.extend(list.iter().rev()),
            StmtKind::Declaration(own) => {
                for variable in own {
                    let Some(other) = variables.insert(variable.name.clone(), variable.clone()) else {
                        continue;
                    };
                    let message = format!("the region declares another `{}`", variable.name);
                    return Err(Box::new(
                        Diagnostic::limitation(codes::DECLARATION, variable.span.clone(), message)
                            .related(other.span, "this one has the same name")
                            .hint("give it a name of its own, or declare it before `#pragma scop`"),
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The one pair of pragmas.
fn marks(source: &Preprocessed) -> Result<(&Mark, &Mark)> {
    let fail = |diagnostic: Diagnostic| Err(Box::new(diagnostic));
    let hint = "write `#pragma scop` before the time loop and `#pragma endscop` behind it";
    match source.marks.as_slice() {
        [] => {
            let text = &source.source.text;
            let first = text.len() - text.trim_start().len();
            let end = text[first..].find('\n').map_or(text.len(), |at| first + at);
            fail(
                Diagnostic::error(codes::NO_SCOP, first..end, "the program has no `#pragma scop` region")
                    .hint(hint),
            )
        }
        [begin, end] if begin.begins && !end.begins => Ok((begin, end)),
        [begin, ..] if !begin.begins => fail(
            Diagnostic::error(codes::NO_SCOP, begin.span.clone(), "a region ends that has not begun")
                .hint(hint),
        ),
        [begin] => fail(
            Diagnostic::error(codes::NO_SCOP, begin.span.clone(), "this region has no `#pragma endscop`")
                .hint(hint),
        ),
        [begin, second, ..] if second.begins => fail(
            Diagnostic::error(codes::NO_SCOP, second.span.clone(), "a region begins within a region")
                .related(begin.span.clone(), "which begins here")
                .hint(hint),
        ),
        [_, second] => fail(
            Diagnostic::error(codes::NO_SCOP, second.span.clone(), "a region ends that has not begun")
                .hint(hint),
        ),
        [begin, _, next, ..] => fail(if next.begins {
            Diagnostic::limitation(
                codes::SEVERAL_SCOPS,
                next.span.clone(),
                "the program has more than one region",
            )
            .related(begin.span.clone(), "the first one")
            .hint("take the pragmas away from all regions but one, and compile one after the other")
        } else {
            Diagnostic::error(codes::NO_SCOP, next.span.clone(), "a region ends that has not begun")
                .hint(hint)
        }),
    }
}

fn tree(source: &Preprocessed) -> Result<Tree> {
    let failed = || {
        let message = "the grammar of C could not be loaded";
        Box::new(Diagnostic::internal(0..0, message))
    };
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).map_err(|_| failed())?;
    parser.parse(&source.text, None).ok_or_else(failed)
}

/// The largest nodes that lie between two offsets.
fn statements_between(root: Node<'_>, begin: usize, end: usize) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let range = node.byte_range();
        if range.start >= begin && range.end <= end {
            found.push(node);
        } else if range.start < end && range.end > begin {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            open.extend(children.into_iter().rev());
        }
    }
    found
}

/// The first node that the grammar could not make sense of.
fn first_error(node: Node<'_>) -> Option<Node<'_>> {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            return Some(node);
        }
        if node.has_error() {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
            open.extend(children.into_iter().rev());
        }
    }
    None
}

fn ancestor<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut at = node.parent();
    while let Some(node) = at {
        if node.kind() == kind {
            return Some(node);
        }
        at = node.parent();
    }
    None
}

/// The outermost loop of the function around a node.
fn outermost_loop<'t>(node: Node<'t>, function: Node<'t>) -> Option<Node<'t>> {
    let (mut at, mut found) = (node.parent(), None);
    while let Some(node) = at.filter(|node| *node != function) {
        if matches!(node.kind(), "for_statement" | "while_statement" | "do_statement") {
            found = Some(node);
        }
        at = node.parent();
    }
    found
}
