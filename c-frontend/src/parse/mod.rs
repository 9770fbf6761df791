//! Stage 2: the syntax of the region and of what it needs: the statements, the declarations in scope, the function.

mod asserted;
mod behind;
mod beyond;
mod converter;
mod declare;
mod expression;
mod functions;
pub(crate) mod literal;
mod names;
mod region;
mod scope;
mod statement;
pub(crate) mod statics;
mod switch;
mod within;

pub(crate) use asserted::FAILED;
pub use functions::Function;
pub use region::{Handed, Region, Structures, WrittenOut};

use crate::ast::{CType, Stmt, StmtKind, Variable};
use crate::codes;
use crate::preprocess::{Mark, Preprocessed, words};
use behind::Behind;
use beyond::Beyond;
use converter::{Converter, Result};
use declare::declared_name;
use names::{addressed, changed, functions, holds_call, names_within};
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// A file's syntax tree.
pub struct File<'a> {
    source: &'a Preprocessed,
    tree: Tree,
    /// Its names.
    functions: HashMap<String, Span>,
    changed: HashSet<String>,
    addressed: HashSet<String>,
    /// Where names stand.
    places: Vec<Range<usize>>,
    words: OnceCell<HashSet<String>>,
    /// The program's other sources.
    others: &'a [File<'a>],
    /// Places of code that a loop has several times, or from those.
    beyond: Beyond,
}

/// A part of a file that may hold a time loop.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its place in the preprocessed text.
    pub range: Range<usize>,
    /// Its place in the user's file.
    pub span: Span,
    /// Where messages about all of it point to.
    pub mark: Span,
}

/// A loop of a file, with the loops in it.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The function around it.
    pub function: String,
    /// The loop.
    pub part: Part,
    /// The loops directly in it.
    pub inner: Vec<Loop>,
    /// Whether it calls functions, or names some that the file declares.
    pub calls: bool,
}

impl<'a> File<'a> {
    /// Parses.
    ///
    /// # Errors
    /// A grammar that cannot be loaded.
    pub fn new(source: &'a Preprocessed) -> Result<Self> {
        let tree = tree(source)?;
        let root = tree.root_node();
        let functions = functions(root, source);
        let (changed, addressed) = (changed(root, &source.text), addressed(root, &source.text));
        let mut places = Vec::new();
        names_within(root, &source.text, &mut |place, _| places.push(place));
        Ok(File {
            source,
            functions,
            changed,
            addressed,
            places,
            tree,
            words: OnceCell::new(),
            others: &[],
            beyond: Beyond::default(),
        })
    }

    /// The same file, with the program's other sources.
    pub fn with(self, others: &'a [File<'a>]) -> Self {
        File { others, ..self }
    }

    /// Whether a word stands anywhere in it, or in another source.
    pub fn has_word(&self, word: &str) -> bool {
        self.words
            .get_or_init(|| words(&self.source.text).into_iter().map(str::to_owned).collect())
            .contains(word)
            || self.source.macros.contains(word)
            || self.others.iter().any(|other| other.has_word(word))
    }

    /// The same of a word that the program itself has, and not only what it is read as.
    pub fn is_written(&self, word: &str) -> bool {
        let given = &self.source.names_given;
        !given.contains_key(word) && (self.has_word(word) || given.values().any(|name| name == word))
    }

    /// Whether nothing happens to an array, in no source of the program, but that elements of so many subscripts are read.
    pub fn only_reads_elements(&self, name: &str, subscripts: usize) -> bool {
        let root = self.tree.root_node();
        names::only_reads_elements(root, &self.source.text, name, subscripts)
            && self.others.iter().all(|other| !other.has_word(name))
            && (!names::is_exported(root, &self.source.text, name) || self.is_whole())
    }

    /// Whether these are all sources of the program, as far as they say: `main` is there, and all functions that they declare and
    /// call.
    fn is_whole(&self) -> bool {
        let all = || std::iter::once(self).chain(self.others);
        let defined = |name: &str| all().any(|file| file.functions.contains_key(name));
        let elsewhere =
            |file: &File<'_>| names::calls_elsewhere(file.tree.root_node(), &file.source.text, defined);
        defined("main") && !all().any(elsewhere)
    }

    /// The functions that it defines.
    pub fn functions(&self) -> &HashMap<String, Span> {
        &self.functions
    }

    /// The regions that pragmas mark, with the functions around them; none where there is no pragma.
    ///
    /// # Errors
    /// Pragmas that are no pairs.
    pub fn marked(&self) -> Result<Vec<(String, Part)>> {
        let root = self.tree.root_node();
        let parts = marks(self.source)?.into_iter().map(|(begin, end)| {
            let range = begin.offset..end.offset;
            let inside = root.descendant_for_byte_range(begin.offset, end.offset);
            let around = inside.and_then(function_around);
            let name = around.and_then(name_of).and_then(|name| self.source.text.get(name.byte_range()));
            let part = Part { range, span: begin.span.start..end.span.end, mark: begin.span.clone() };
            (name.unwrap_or_default().to_owned(), part)
        });
        Ok(parts.collect())
    }

    /// The loops of all functions, as they are nested.
    pub fn loops(&self) -> Vec<Loop> {
        let mut found = Vec::new();
        let root = self.tree.root_node();
        let declared = self.declared_functions();
        let mut cursor = root.walk();
        for function in root.children(&mut cursor).filter(is_function) {
            let name = name_of(function).and_then(|name| self.source.text.get(name.byte_range()));
            if let Some(name) = name {
                self.loops_below(function, name, (0, &declared), &mut found);
            }
        }
        found
    }

    fn loops_below(
        &self,
        node: Node<'_>,
        function: &str,
        (depth, declared): (usize, &HashSet<String>),
        found: &mut Vec<Loop>,
    ) {
        if depth > converter::MOST_DEPTH {
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if !matches!(child.kind(), "for_statement" | "while_statement" | "do_statement") {
                self.loops_below(child, function, (depth + 1, declared), found);
                continue;
            }
            let mut inner = Vec::new();
            self.loops_below(child, function, (depth + 1, declared), &mut inner);
            // Also a call through a pointer.
            let mut calls = holds_call(child);
            names_within(child, &self.source.text, &mut |_, name| calls |= declared.contains(name));
            let span = self.source.origin.span(child.byte_range());
            let body =
                child.child_by_field_name("body").map(|body| self.source.origin.span(body.byte_range()));
            let mut head = span.clone();
            if let Some(body) = body.filter(|body| body.start > head.start && child.kind() != "do_statement")
            {
                let text = &self.source.source.text;
                head.end = head.start + text.get(head.start..body.start).unwrap_or_default().trim_end().len();
            } else {
                head.end = head.end.min(head.start + 2);
            }
            let part = Part { range: child.byte_range(), span, mark: head };
            found.push(Loop { function: function.to_owned(), part, inner, calls });
        }
    }

    /// A `goto` that goes back, and so makes a loop.
    pub fn loop_by_goto(&self) -> Option<Span> {
        let root = self.tree.root_node();
        let mut cursor = root.walk();
        root.children(&mut cursor).filter(is_function).find_map(|function| {
            let (mut labels, mut jumps) = (Vec::new(), Vec::new());
            let mut open = vec![function];
            while let Some(node) = open.pop() {
                let label = node.child_by_field_name("label").map(|label| label.byte_range());
                match (node.kind(), label) {
                    ("labeled_statement", Some(label)) => labels.push(label),
                    ("goto_statement", Some(label)) => jumps.push((node.byte_range(), label)),
                    _ => {}
                }
                let mut cursor = node.walk();
                open.extend(node.named_children(&mut cursor));
            }
            let text = |range: &Range<usize>| self.source.text.get(range.clone());
            let back =
                |to: &Range<usize>| labels.iter().any(|at| at.start < to.start && text(at) == text(to));
            let jump = jumps.into_iter().filter(|(_, to)| back(to)).map(|(jump, _)| jump);
            jump.min_by_key(|jump| jump.start).map(|jump| self.source.origin.span(jump))
        })
    }

    /// Whether nothing changes a variable but what assigns it by its name, in its own function.
    pub fn is_seen(&self, variable: &Variable) -> bool {
        let name = &variable.name;
        !self.changed.contains(name) || !(variable.global || self.addressed.contains(name))
    }

    /// Whether anything in the file assigns a variable of this name, counts it, or takes its address.
    pub fn is_changed(&self, name: &str) -> bool {
        self.changed.contains(name)
    }

    /// A part of the file and what it needs, when its statements are expanded.
    ///
    /// # Errors
    /// A part that holds no whole statements of one function, or that cannot be parsed.
    pub fn region(&self, part: &Part, expand: Expand<'_>) -> Result<Region> {
        region(self, part, expand)
    }
}

/// What is done with the statements of a part before anybody looks at what they use; variables that they then use are added.
pub type Expand<'f> =
    &'f dyn Fn(Vec<Stmt>, &File<'_>, &mut HashMap<String, Variable>, &Structures) -> Expanded;

/// Statements that were expanded.
#[derive(Debug, Clone)]
pub struct Expanded {
    /// The statements.
    pub statements: Vec<Stmt>,
    /// The places of statements that stayed as they were, each with the reason.
    pub kept: Vec<(Span, Diagnostic)>,
    /// The variables that are members of structures and pointers.
    pub members: Vec<String>,
    /// The arrays that each step of the time loop declares.
    pub own_arrays: Vec<Variable>,
    /// Where memory takes the place of other memory.
    pub handed: Vec<Handed>,
    /// Local pointers that are written out.
    pub written_out: Vec<WrittenOut>,
    /// Whether structures of one type are taken to hold the same sizes.
    pub assumed: bool,
}

fn region(file: &File<'_>, wanted: &Part, expand: Expand<'_>) -> Result<Region> {
    let (source, range, span) = (file.source, &wanted.range, wanted.span.clone());
    let root = file.tree.root_node();
    let parts = statements_between(root, range.start, range.end);
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
        let behind = span.end.max(span.start + 1);
        Box::new(
            Diagnostic::error(codes::SCOP_PLACE, wanted.mark.clone(), message)
                .related(behind - 1..behind, "the region ends here")
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
    let Some(function) = function_around(*first) else {
        return Err(misplaced("the region does not stand in a function"));
    };
    let mut converter = Converter::new(source);
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
    let structures = converter.structures;
    let Expanded { statements, kept, members, own_arrays, handed, written_out, assumed } =
        expand(statements, file, &mut scope.variables, &structures);
    declare_around_loops(&statements, &mut scope.variables)?;
    let outer_loop = outermost_loop(*first, function);
    let from = outer_loop.map_or(range.end, |outer| outer.start_byte());
    let to = function.end_byte();
    let mut used_behind = HashSet::new();
    for place in &file.places {
        let name = source.text.get(place.clone()).unwrap_or_default();
        let inside = place.start >= range.start && place.end <= range.end;
        let own = place.start >= function.start_byte() && place.end <= to;
        // A local variable of another function is another variable.
        let elsewhere = !own
            && scope.variables.get(name).is_some_and(|variable| {
                variable.global && variable.span != source.origin.span(place.clone())
            });
        if !inside && (elsewhere || (own && place.start >= from)) {
            used_behind.insert(name.to_owned());
        }
    }
    // The next call of the function reads what it finds, if it asks before the loop.
    let called_again = scope.function != "main";
    let asked = scope.variables.values().filter(|one| one.global && called_again);
    let asked = asked.filter(|one| file.changed.contains(&one.name));
    let behind = Behind::new(function, &source.text);
    let asked = asked.filter(|one| behind.is_read_first(parts[0], &one.name));
    let asked: Vec<String> = asked.map(|one| one.name.clone()).collect();
    used_behind.retain(|name| {
        let local = scope.variables.get(name).is_some_and(|variable| !variable.global);
        !local || file.addressed.contains(name) || behind.is_read(parts[parts.len() - 1], name)
    });
    // A pointer, or the next call, may read what no name behind the region does.
    let local = |name: &String| scope.variables.get(name).is_some_and(|variable| !variable.global);
    let unnamed = file.changed.iter().filter(|name| {
        (file.addressed.contains(*name) && names::addressed_outside(function, name, &source.text, range))
            || (local(name) && behind.is_static(name))
    });
    used_behind.extend(unnamed.cloned());
    used_behind.extend(asked);
    Ok(Region {
        numbers: numbers(&statements),
        statements,
        span,
        mark: wanted.mark.clone(),
        function: scope.function,
        variables: scope.variables,
        used_behind,
        functions: file.functions.clone(),
        changed: file.changed.clone(),
        addressed: file.addressed.clone(),
        structures,
        members,
        own_arrays,
        handed,
        written_out,
        assumed,
        processor: false,
        kept,
        places: converter.places,
    })
}

/// The names with which statements declare numbers, and nothing else.
fn numbers(statements: &[Stmt]) -> HashSet<String> {
    let (mut numbers, mut others) = (HashSet::new(), HashSet::new());
    for stmt in statements {
        stmt.walk(&mut |stmt| {
            let StmtKind::Declaration(list) = &stmt.kind else { return };
            for one in list {
                let number = matches!(one.ctype, CType::Integer { .. } | CType::Floating(_));
                if number { &mut numbers } else { &mut others }.insert(one.name.clone());
            }
        });
    }
    numbers.retain(|name| !others.contains(name));
    numbers
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

/// The pairs of pragmas.
fn marks(source: &Preprocessed) -> Result<Vec<(&Mark, &Mark)>> {
    let fail = |mark: &Mark, message: &str| {
        let hint = "write `#pragma scop` before the time loop and `#pragma endscop` behind it";
        Diagnostic::error(codes::NO_SCOP, mark.span.clone(), message).hint(hint)
    };
    let mut pairs = Vec::new();
    let mut open: Option<&Mark> = None;
    for mark in &source.marks {
        open = match (open, mark.begins) {
            (None, true) => Some(mark),
            (Some(begin), false) => {
                pairs.push((begin, mark));
                None
            }
            (None, false) => return Err(Box::new(fail(mark, "a region ends that has not begun"))),
            (Some(begin), true) => {
                let diagnostic = fail(mark, "a region begins within a region");
                return Err(Box::new(diagnostic.related(begin.span.clone(), "which begins here")));
            }
        };
    }
    match open {
        Some(begin) => Err(Box::new(fail(begin, "this region has no `#pragma endscop`"))),
        None => Ok(pairs),
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

/// Whether a node is a function. Without a type before its name, as in `main() { .. }`, the grammar sees a block of its own.
fn is_function(node: &Node<'_>) -> bool {
    match node.kind() {
        "function_definition" => true,
        "compound_statement" => node.parent().is_some_and(|parent| parent.kind() == "translation_unit"),
        _ => false,
    }
}

/// The name of a function.
fn name_of(function: Node<'_>) -> Option<Node<'_>> {
    if function.kind() == "function_definition" {
        return declared_name(function);
    }
    let mut at = function.prev_named_sibling()?;
    while at.kind() != "identifier" {
        let mut cursor = at.walk();
        at = at.named_children(&mut cursor).next()?;
    }
    Some(at)
}

/// The function that a node is, or stands in.
fn function_around(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = Some(node);
    while let Some(node) = at {
        if is_function(&node) {
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
