//! What is below a node of the syntax tree.

use tree_sitter::Node;

/// Whether the evaluation of this alone may change something: of the length of an array in a type, where there is one.
pub(super) fn may_change(node: Node<'_>) -> bool {
    matches!(node.kind(), "update_expression" | "assignment_expression" | "call_expression")
}

/// Shows a node and all below it to `find`, each before what it holds, until one is what is looked for.
pub(super) fn any_within<'t>(node: Node<'t>, mut find: impl FnMut(Node<'t>) -> bool) -> bool {
    let mut cursor = node.walk();
    loop {
        if find(cursor.node()) {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}
