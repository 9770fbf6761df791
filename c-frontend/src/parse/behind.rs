//! Whether a variable's value is still wanted behind a place.

use super::expression::inner;
use super::within::any_within;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::Node;

/// What a function names and where it leaves its blocks, looked up once for all of its variables.
pub(super) struct Behind<'a> {
    function: Node<'a>,
    text: &'a str,
    /// Where each name begins, in order.
    names: HashMap<&'a str, Vec<usize>>,
    /// Where `break` and `continue` stand, in order.
    leaves: Vec<usize>,
    has_goto: bool,
    /// Names in declarations of what outlives the function's calls.
    kept: HashSet<&'a str>,
}

impl<'a> Behind<'a> {
    pub(super) fn new(function: Node<'a>, text: &'a str) -> Self {
        let mut behind = Behind {
            function,
            text,
            names: HashMap::new(),
            leaves: Vec::new(),
            has_goto: false,
            kept: HashSet::new(),
        };
        let mut kept: Vec<Range<usize>> = Vec::new();
        any_within(function, |node| {
            match node.kind() {
                "identifier" => {
                    let name = text.get(node.byte_range()).unwrap_or_default();
                    behind.names.entry(name).or_default().push(node.start_byte());
                }
                "break_statement" | "continue_statement" => behind.leaves.push(node.start_byte()),
                "goto_statement" => behind.has_goto = true,
                "declaration" => {
                    let mut cursor = node.walk();
                    if node.children(&mut cursor).any(|child| child.kind() == "storage_class_specifier") {
                        kept.push(node.byte_range());
                    }
                }
                _ => {}
            }
            false
        });
        behind.names.values_mut().for_each(|places| places.sort_unstable());
        behind.leaves.sort_unstable();
        let outlives = |places: &[usize]| kept.iter().any(|range| any_in(places, range));
        behind.kept = behind.names.iter().filter(|(_, at)| outlives(at)).map(|(name, _)| *name).collect();
        behind
    }

    /// Whether a local variable may be read behind a statement before it is assigned again; in the next round of a loop,
    /// too.
    pub(super) fn is_read(&self, statement: Node<'_>, name: &str) -> bool {
        if self.is_static(name) || self.has_goto {
            return true;
        }
        let mut at = statement;
        while at != self.function {
            let mut next = at.next_named_sibling();
            // The other branch of a condition is not run.
            let branch =
                at.parent().is_some_and(|parent| matches!(parent.kind(), "if_statement" | "else_clause"));
            while let Some(node) = next.filter(|_| !branch) {
                match self.effect(node, name) {
                    Effect::Nothing => {}
                    Effect::Assigned => return false,
                    Effect::MayRead => return true,
                }
                next = node.next_named_sibling();
            }
            let Some(parent) = at.parent() else { return true };
            if is_loop(parent) {
                let part = |field: &str| {
                    parent.child_by_field_name(field).map_or(Effect::Nothing, |part| self.run(part, name))
                };
                let asked = match parent.kind() {
                    "for_statement" => part("update").then(part("condition")),
                    _ => part("condition"),
                };
                match (asked, part("body")) {
                    (Effect::MayRead, _) | (Effect::Nothing, Effect::MayRead) => return true,
                    (Effect::Assigned, _) => return false,
                    (Effect::Nothing, _) => {}
                }
            }
            at = parent;
        }
        false
    }

    /// Whether the next call of a function may read a variable of the file before the statement with a loop assigns it.
    pub(super) fn is_read_first(&self, statement: Node<'_>, name: &str) -> bool {
        if self.has_goto {
            return true;
        }
        let Some(body) = self.function.child_by_field_name("body") else { return true };
        let mut cursor = body.walk();
        for part in body.named_children(&mut cursor) {
            if part.start_byte() <= statement.start_byte() && statement.end_byte() <= part.end_byte() {
                return part != statement && !is_loop(part) && self.mentions(part, name);
            }
            match self.run(part, name) {
                Effect::Nothing => {}
                Effect::Assigned => return false,
                Effect::MayRead => return true,
            }
        }
        true
    }

    fn effect(&self, node: Node<'_>, name: &str) -> Effect {
        // What leaves the block goes on elsewhere.
        if !is_loop(node) && self.leaves(node) {
            return Effect::MayRead;
        }
        self.run(node, name)
    }

    /// The same of statements that end in any way, as far as `MayRead`.
    fn run(&self, node: Node<'_>, name: &str) -> Effect {
        if !self.mentions(node, name) {
            return Effect::Nothing;
        }
        let part = |field: &str| {
            node.child_by_field_name(field).map_or(Effect::Nothing, |part| self.run(part, name))
        };
        match node.kind() {
            "expression_statement" => inner(node).map_or(Effect::Nothing, |inner| self.run(inner, name)),
            "assignment_expression" => self.assignment(node, name),
            "compound_statement" => {
                let mut cursor = node.walk();
                let parts = node.named_children(&mut cursor).map(|part| self.run(part, name));
                parts.fold(Effect::Nothing, Effect::then)
            }
            // A loop may have no round, and each begins as the first one does.
            "for_statement" => {
                let started = part("initializer");
                let round = part("condition").then(part("body").at_most());
                started.then(round.then(part("update")).at_most())
            }
            "while_statement" => part("condition").then(part("body").at_most()),
            "do_statement" if !self.leaves(node) => part("body").then(part("condition")),
            "if_statement" => {
                let both = part("consequence").or(part("alternative"));
                part("condition").then(both)
            }
            "else_clause" => node.named_child(0).map_or(Effect::Nothing, |part| self.run(part, name)),
            _ => Effect::MayRead,
        }
    }

    fn assignment(&self, assigned: Node<'_>, name: &str) -> Effect {
        let part = |field: &str| assigned.child_by_field_name(field);
        let plain = part("operator").is_some_and(|operator| operator.kind() == "=");
        let (Some(left), Some(right)) = (part("left"), part("right")) else { return Effect::MayRead };
        let own = left.kind() == "identifier" && self.text.get(left.byte_range()) == Some(name);
        if own && plain && !self.mentions(right, name) { Effect::Assigned } else { Effect::MayRead }
    }

    /// Whether the function declares a variable that outlives its calls.
    pub(super) fn is_static(&self, name: &str) -> bool {
        self.kept.contains(name)
    }

    /// Whether a `break` or `continue` stands in a node.
    fn leaves(&self, node: Node<'_>) -> bool {
        any_in(&self.leaves, &node.byte_range())
    }

    fn mentions(&self, node: Node<'_>, name: &str) -> bool {
        self.names.get(name).is_some_and(|places| any_in(places, &node.byte_range()))
    }
}

/// Whether one of some places, which are in order, lies in a range.
fn any_in(places: &[usize], range: &Range<usize>) -> bool {
    let first = places.partition_point(|place| *place < range.start);
    places.get(first).is_some_and(|place| *place < range.end)
}

fn is_loop(node: Node<'_>) -> bool {
    matches!(node.kind(), "for_statement" | "while_statement" | "do_statement")
}

enum Effect {
    Nothing,
    /// It is certainly assigned, and not read before.
    Assigned,
    MayRead,
}

impl Effect {
    /// One statement behind another.
    fn then(self, next: Effect) -> Effect {
        if matches!(self, Effect::Nothing) { next } else { self }
    }

    /// One statement or another.
    fn or(self, other: Effect) -> Effect {
        match (self, other) {
            (Effect::MayRead, _) | (_, Effect::MayRead) => Effect::MayRead,
            (Effect::Assigned, Effect::Assigned) => Effect::Assigned,
            _ => Effect::Nothing,
        }
    }

    /// A statement that may not run.
    fn at_most(self) -> Effect {
        if matches!(self, Effect::Assigned) { Effect::Nothing } else { self }
    }
}
