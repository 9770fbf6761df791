//! Whether a variable's value is still wanted behind a place.

use super::expression::inner;
use super::names::any_within;
use tree_sitter::Node;

/// Whether a local variable may be read behind a statement, outside of loops, before it is assigned again.
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
        at = parent;
    }
    false
}

enum Effect {
    Nothing,
    /// It is certainly assigned, and not read before.
    Assigned,
    MayRead,
}

fn effect(node: Node<'_>, name: &str, text: &str) -> Effect {
    // What leaves the block goes on elsewhere.
    let own = matches!(node.kind(), "for_statement" | "while_statement" | "do_statement");
    if !own && holds(node, &["break_statement", "continue_statement"]) {
        return Effect::MayRead;
    }
    if !mentions(node, name, text) {
        return Effect::Nothing;
    }
    let assigned = match node.kind() {
        "expression_statement" => inner(node),
        "for_statement" => node.child_by_field_name("initializer"),
        _ => None,
    };
    let Some(assigned) = assigned.filter(|node| node.kind() == "assignment_expression") else {
        return Effect::MayRead;
    };
    let part = |field: &str| assigned.child_by_field_name(field);
    let plain = part("operator").is_some_and(|operator| operator.kind() == "=");
    let (Some(left), Some(right)) = (part("left"), part("right")) else { return Effect::MayRead };
    let own = left.kind() == "identifier" && text.get(left.byte_range()) == Some(name);
    if own && plain && !mentions(right, name, text) { Effect::Assigned } else { Effect::MayRead }
}

/// Whether a function declares a variable that outlives its calls.
fn is_static(function: Node<'_>, name: &str, text: &str) -> bool {
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
