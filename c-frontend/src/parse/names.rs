//! Names in a file: where they stand, which are changed, which are functions.

use super::declare::declared_name;
use super::expression;
use crate::preprocess::Preprocessed;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::Node;

/// Shows every name below a node to `visit`, with its place.
pub(super) fn names_within(node: Node<'_>, text: &str, visit: &mut dyn FnMut(Range<usize>, &str)) {
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

/// Whether something is called in a node.
pub(super) fn holds_call(node: Node<'_>) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.kind() == "call_expression" {
            return true;
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        open.extend(children);
    }
    false
}

/// The names of what a file assigns or takes the address of.
pub(super) fn changed(root: Node<'_>, text: &str) -> HashSet<String> {
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
pub(super) fn addressed(root: Node<'_>, text: &str) -> HashSet<String> {
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
pub(super) fn functions(root: Node<'_>, source: &Preprocessed) -> HashMap<String, Span> {
    let mut found = HashMap::new();
    let mut cursor = root.walk();
    for node in root.children(&mut cursor).filter(|node| node.kind() == "function_definition") {
        let name = declared_name(node).and_then(|name| source.text.get(name.byte_range()));
        if let Some(name) = name {
            found.insert(name.to_owned(), source.origin.span(node.byte_range()));
        }
    }
    found
}

/// Whether nothing happens to an array below a node but that elements, of so many subscripts, are read; its declarations do
/// not count.
pub(super) fn only_reads_elements(root: Node<'_>, text: &str, name: &str, subscripts: usize) -> bool {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        let own = node.kind() == "identifier" && text.get(node.byte_range()) == Some(name);
        if own && node.parent().is_none_or(|parent| parent.kind() != "array_declarator") {
            let (mut at, mut depth) = (node, 0);
            while let Some(parent) = at.parent().filter(|parent| {
                parent.kind() == "subscript_expression" && parent.child_by_field_name("argument") == Some(at)
            }) {
                (at, depth) = (parent, depth + 1);
            }
            while let Some(parent) = at.parent().filter(|parent| parent.kind() == "parenthesized_expression")
            {
                at = parent;
            }
            let read = at.parent().is_some_and(|parent| match parent.kind() {
                "assignment_expression" => parent.child_by_field_name("left") != Some(at),
                "update_expression" | "pointer_expression" => false,
                _ => true,
            });
            if depth != subscripts || !read {
                return false;
            }
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        open.extend(children);
    }
    true
}
