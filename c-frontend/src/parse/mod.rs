//! Stage 2: the syntax of the region and of what it needs: the statements, the declarations in scope, the function.

mod declare;
mod expression;
pub(crate) mod literal;
mod statement;

use crate::ast::{CType, Stmt, StmtKind, Variable};
use crate::codes;
use crate::preprocess::{Mark, Preprocessed};
use polyhedral::diagnostic::{Diagnostic, Diagnostics};
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tree_sitter::{Node, Parser, Tree};

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
    /// Names that are used behind the region, anywhere in a loop around it, or in another function.
    pub used_behind: Vec<String>,
    /// Functions that the file itself defines.
    pub functions: HashMap<String, Span>,
    /// Names that the file assigns or takes the address of, anywhere; initial values do not count.
    pub changed: HashSet<String>,
    /// Variables that pointers may reach: names that the file takes the address of, and those of other files.
    pub addressed: HashSet<String>,
    /// Structures and the types of their members.
    pub structures: Structures,
    /// The statements that are loops: their places in the user's file, and in the preprocessed text.
    pub loops: Vec<(Span, std::ops::Range<usize>)>,
}

/// Deepest nesting of statements and expressions.
pub(crate) const MOST_DEPTH: usize = 200;

/// The types of members, by the names of structures.
pub type Structures = HashMap<String, HashMap<String, CType>>;

/// Turns nodes of the grammar into our own tree.
pub(crate) struct Converter<'a> {
    source: &'a Preprocessed,
    typedefs: HashMap<String, CType>,
    /// Names of numbers, from `enum`.
    constants: HashMap<String, i64>,
    structures: Structures,
    loops: Vec<(Span, std::ops::Range<usize>)>,
    depth: usize,
}

/// What is wrong.
pub(crate) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

impl Converter<'_> {
    fn span(&self, node: Node<'_>) -> Span {
        self.source.origin.span(node.byte_range())
    }

    fn text(&self, node: Node<'_>) -> &str {
        self.source.text.get(node.byte_range()).unwrap_or_default()
    }

    /// Runs one level deeper.
    fn deeper<T>(&mut self, node: Node<'_>, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
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
        loops: Vec::new(),
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
        loops: converter.loops,
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

fn names_within(node: Node<'_>, text: &str, visit: &mut dyn FnMut(std::ops::Range<usize>, &str)) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.kind() == "identifier" {
            visit(node.byte_range(), text.get(node.byte_range()).unwrap_or_default());
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        open.extend(children);
    }
}

/// The names of what a file assigns or takes the address of.
fn changed(root: Node<'_>, text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let target = match node.kind() {
            "assignment_expression" => node.child_by_field_name("left"),
            "update_expression" => node.child_by_field_name("argument"),
            "pointer_expression" => node.child_by_field_name("argument").filter(|_| {
                node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "&")
            }),
            _ => None,
        };
        let mut target = target;
        while let Some(inner) = target.filter(|node| node.kind() == "parenthesized_expression") {
            target = expression::inner(inner);
        }
        if let Some(name) = target.filter(|node| node.kind() == "identifier") {
            found.extend(text.get(name.byte_range()).map(str::to_owned));
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        open.extend(children);
    }
    found
}

/// The names that a file takes the address of, and those that are declared `extern`.
fn addressed(root: Node<'_>, text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let taken = match node.kind() {
            "pointer_expression" => node
                .child_by_field_name("operator")
                .filter(|operator| operator.kind() == "&")
                .and_then(|_| node.child_by_field_name("argument")),
            "declaration" if text.get(node.byte_range()).is_some_and(|text| text.starts_with("extern")) => {
                Some(node)
            }
            _ => None,
        };
        if let Some(taken) = taken {
            names_within(taken, text, &mut |_, name| {
                found.insert(name.to_owned());
            });
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        open.extend(children);
    }
    found
}

/// The functions that the file defines.
fn functions(root: Node<'_>, source: &Preprocessed) -> HashMap<String, Span> {
    let mut found = HashMap::new();
    let mut cursor = root.walk();
    for node in root.children(&mut cursor).filter(|node| node.kind() == "function_definition") {
        let name = declare::declared_name(node).and_then(|name| source.text.get(name.byte_range()));
        if let Some(name) = name {
            found.insert(name.to_owned(), source.origin.span(node.byte_range()));
        }
    }
    found
}

/// A function's name and the variables that a place in it can use.
pub(crate) struct Scope {
    function: String,
    variables: HashMap<String, Variable>,
}

impl Converter<'_> {
    /// The declarations that come before a node, outermost first, so that inner ones hide outer ones.
    fn scope(&mut self, node: Node<'_>, function: Node<'_>) -> Result<Scope> {
        let mut path = vec![node];
        while let Some(parent) = path.last().and_then(Node::parent) {
            path.push(parent);
        }
        let mut scope = Scope { function: String::new(), variables: HashMap::new() };
        if let Some(name) = declare::declared_name(function) {
            scope.function = self.text(name).to_owned();
        }
        for pair in path.windows(2).rev() {
            let [inner, outer] = pair else { continue };
            let global = outer.kind() == "translation_unit" || !within(*outer, function);
            match outer.kind() {
                "function_definition" => {
                    for variable in self.parameters(*outer) {
                        scope.variables.insert(variable.name.clone(), variable);
                    }
                }
                "for_statement" => {
                    if let Some(start) = outer.child_by_field_name("initializer") {
                        self.declared(start, false, &mut scope);
                    }
                }
                _ => {}
            }
            let mut cursor = outer.walk();
            for child in outer.children(&mut cursor) {
                if child.start_byte() >= inner.start_byte() {
                    break;
                }
                self.declared(child, global, &mut scope);
            }
        }
        Ok(scope)
    }

    /// Adds what a node declares; what cannot be understood is left out.
    fn declared(&mut self, node: Node<'_>, global: bool, scope: &mut Scope) {
        if node.has_error() {
            // Something is declared here, and not known what.
            names_within(node, &self.source.text, &mut |_, name| {
                scope.variables.remove(name);
                self.constants.remove(name);
            });
            return;
        }
        match node.kind() {
            "declaration" => {
                for mut variable in self.declaration(node).unwrap_or_default() {
                    variable.global = global;
                    scope.variables.insert(variable.name.clone(), variable);
                }
            }
            "type_definition" => self.type_definition(node),
            "enum_specifier" => self.enumerators(node),
            "struct_specifier" => {
                self.structure(node);
            }
            _ => {}
        }
    }
}

fn within(node: Node<'_>, outer: Node<'_>) -> bool {
    node.start_byte() >= outer.start_byte() && node.end_byte() <= outer.end_byte()
}
