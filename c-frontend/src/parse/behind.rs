//! Whether a variable's value is still wanted behind a place.

use super::expression::inner;
use super::names::any_within;
use tree_sitter::Node;

/// Whether a local variable may be read behind a statement before it is assigned again; in the next round of a loop, too.
pub(super) fn is_read(statement: Node<'_>, function: Node<'_>, name: &str, text: &str) -> bool {
    if is_static(function, name, text) || holds(function, &["goto_statement"]) {
        return true;
    }
    let mut at = statement;
    while at != function {
        let mut next = at.next_named_sibling();
        // The other branch of a condition is not run.
        let branch =
            at.parent().is_some_and(|parent| matches!(parent.kind(), "if_statement" | "else_clause"));
        while let Some(node) = next.filter(|_| !branch) {
            match effect(node, name, text) {
                Effect::Nothing => {}
                Effect::Assigned => return false,
                Effect::MayRead => return true,
            }
            next = node.next_named_sibling();
        }
        let Some(parent) = at.parent() else { return true };
        if is_loop(parent) {
            let part = |field: &str| {
                parent.child_by_field_name(field).map_or(Effect::Nothing, |part| run(part, name, text))
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
pub(super) fn is_read_first(statement: Node<'_>, function: Node<'_>, name: &str, text: &str) -> bool {
    if holds(function, &["goto_statement"]) {
        return true;
    }
    let Some(body) = function.child_by_field_name("body") else { return true };
    let mut cursor = body.walk();
    for part in body.named_children(&mut cursor) {
        if part.start_byte() <= statement.start_byte() && statement.end_byte() <= part.end_byte() {
            return part != statement && !is_loop(part) && mentions(part, name, text);
        }
        match run(part, name, text) {
            Effect::Nothing => {}
            Effect::Assigned => return false,
            Effect::MayRead => return true,
        }
    }
    true
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

fn effect(node: Node<'_>, name: &str, text: &str) -> Effect {
    // What leaves the block goes on elsewhere.
    if !is_loop(node) && holds(node, &["break_statement", "continue_statement"]) {
        return Effect::MayRead;
    }
    run(node, name, text)
}

/// The same of statements that end in any way, as far as `MayRead`.
fn run(node: Node<'_>, name: &str, text: &str) -> Effect {
    if !mentions(node, name, text) {
        return Effect::Nothing;
    }
    let part =
        |field: &str| node.child_by_field_name(field).map_or(Effect::Nothing, |part| run(part, name, text));
    match node.kind() {
        "expression_statement" => inner(node).map_or(Effect::Nothing, |inner| run(inner, name, text)),
        "assignment_expression" => assignment(node, name, text),
        "compound_statement" => {
            let mut cursor = node.walk();
            let parts = node.named_children(&mut cursor).map(|part| run(part, name, text));
            parts.fold(Effect::Nothing, Effect::then)
        }
        // A loop may have no round, and each begins as the first one does.
        "for_statement" => {
            let started = part("initializer");
            let round = part("condition").then(part("body").at_most());
            started.then(round.then(part("update")).at_most())
        }
        "while_statement" => part("condition").then(part("body").at_most()),
        "do_statement" if !holds(node, &["break_statement", "continue_statement"]) => {
            part("body").then(part("condition"))
        }
        "if_statement" => {
            let both = part("consequence").or(part("alternative"));
            part("condition").then(both)
        }
        "else_clause" => node.named_child(0).map_or(Effect::Nothing, |part| run(part, name, text)),
        _ => Effect::MayRead,
    }
}

fn assignment(assigned: Node<'_>, name: &str, text: &str) -> Effect {
    let part = |field: &str| assigned.child_by_field_name(field);
    let plain = part("operator").is_some_and(|operator| operator.kind() == "=");
    let (Some(left), Some(right)) = (part("left"), part("right")) else { return Effect::MayRead };
    let own = left.kind() == "identifier" && text.get(left.byte_range()) == Some(name);
    if own && plain && !mentions(right, name, text) { Effect::Assigned } else { Effect::MayRead }
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

/// Whether a function declares a variable that outlives its calls.
pub(super) fn is_static(function: Node<'_>, name: &str, text: &str) -> bool {
    any_within(function, |node| {
        let mut cursor = node.walk();
        node.kind() == "declaration"
            && node.children(&mut cursor).any(|child| child.kind() == "storage_class_specifier")
            && mentions(node, name, text)
    })
}

/// Whether a statement of one of these kinds stands in a node.
fn holds(node: Node<'_>, kinds: &[&str]) -> bool {
    any_within(node, |node| kinds.contains(&node.kind()))
}

fn mentions(node: Node<'_>, name: &str, text: &str) -> bool {
    any_within(node, |node| node.kind() == "identifier" && text.get(node.byte_range()) == Some(name))
}
