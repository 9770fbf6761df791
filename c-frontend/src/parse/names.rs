//! Names in a file: where they stand, which are changed, which are functions.

use super::declare::declared_name;
use super::expression;
use super::within::any_within;
use crate::preprocess::Preprocessed;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use tree_sitter::Node;

/// Shows every name below a node to `visit`, with its place.
pub(super) fn names_within(node: Node<'_>, text: &str, visit: &mut dyn FnMut(Range<usize>, &str)) {
    any_within(node, |node| {
        if node.kind() == "identifier" {
            visit(node.byte_range(), text.get(node.byte_range()).unwrap_or_default());
        }
        false
    });
}

/// Whether something is called in a node.
pub(super) fn holds_call(node: Node<'_>) -> bool {
    any_within(node, |node| node.kind() == "call_expression")
}

/// The names of what a file assigns or takes the address of.
pub(super) fn changed(root: Node<'_>, text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    any_within(root, |node| {
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
        false
    });
    found
}

/// The names that a file takes the address of, and those that are declared `extern`.
pub(super) fn addressed(root: Node<'_>, text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    any_within(root, |node| {
        let taken = match node.kind() {
            "declaration" if text.get(node.byte_range()).is_some_and(|text| text.starts_with("extern")) => {
                Some(node)
            }
            _ => address_of(node),
        };
        if let Some(taken) = taken {
            names_within(taken, text, &mut |_, name| {
                found.insert(name.to_owned());
            });
        }
        false
    });
    found
}

/// Whether the address of a variable is taken below a node, but not in a range of it.
pub(super) fn addressed_outside(node: Node<'_>, name: &str, text: &str, range: &Range<usize>) -> bool {
    any_within(node, |node| {
        !(node.start_byte() >= range.start && node.end_byte() <= range.end)
            && address_of(node).is_some_and(|taken| {
                any_within(taken, |node| {
                    node.kind() == "identifier" && text.get(node.byte_range()) == Some(name)
                })
            })
    })
}

/// What `&` stands before.
fn address_of(node: Node<'_>) -> Option<Node<'_>> {
    let operator = node.child_by_field_name("operator");
    let own = node.kind() == "pointer_expression" && operator.is_some_and(|operator| operator.kind() == "&");
    node.child_by_field_name("argument").filter(|_| own)
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
    !any_within(root, |node| {
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
            return depth != subscripts || !read;
        }
        false
    })
}

/// Whether other sources may use a variable of the file by its name: it is declared outside of functions, not `static`.
pub(super) fn is_exported(root: Node<'_>, text: &str, name: &str) -> bool {
    let mut cursor = root.walk();
    root.children(&mut cursor).filter(|node| node.kind() == "declaration").any(|node| {
        let mut parts = node.walk();
        let own = node.children(&mut parts).any(|part| {
            part.kind() == "storage_class_specifier" && text.get(part.byte_range()) == Some("static")
        });
        !own && any_within(node, |part| {
            part.kind() == "identifier" && text.get(part.byte_range()) == Some(name)
        })
    })
}

/// Whether a variable of the file is the one that other sources mean by its name: it is declared outside of functions, and
/// nowhere `static`.
pub(super) fn is_shared(root: Node<'_>, text: &str, name: &str) -> bool {
    let (mut found, mut own) = (false, false);
    let mut cursor = root.walk();
    for node in root.children(&mut cursor).filter(|node| node.kind() == "declaration") {
        let mut parts = node.walk();
        let declares = node.children_by_field_name("declarator", &mut parts).any(|declarator| {
            let mut at = declarator;
            while at.kind() != "identifier" {
                let Some(inner) = at.child_by_field_name("declarator") else { return false };
                at = inner;
            }
            text.get(at.byte_range()) == Some(name)
        });
        let mut parts = node.walk();
        found |= declares;
        own |= declares
            && node.children(&mut parts).any(|part| {
                part.kind() == "storage_class_specifier" && text.get(part.byte_range()) == Some("static")
            });
    }
    found && !own
}

/// Whether a function is called that the file declares, and that is not `defined`.
pub(super) fn calls_elsewhere(root: Node<'_>, text: &str, defined: impl Fn(&str) -> bool) -> bool {
    let name_of = |node: Node<'_>, field: &str| {
        let name = node.child_by_field_name(field).filter(|name| name.kind() == "identifier")?;
        text.get(name.byte_range()).map(str::to_owned)
    };
    let (mut declared, mut called) = (HashSet::new(), HashSet::new());
    any_within(root, |node| {
        match node.kind() {
            "function_declarator" => declared.extend(name_of(node, "declarator")),
            "call_expression" => called.extend(name_of(node, "function")),
            _ => {}
        }
        false
    });
    called.iter().any(|name| declared.contains(name) && !defined(name))
}
