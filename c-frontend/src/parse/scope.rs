//! The declarations that a place can use.

use super::converter::{Converter, Result};
use super::names::names_within;
use crate::ast::Variable;
use std::collections::HashMap;
use tree_sitter::Node;

/// A function's name and the variables that a place in it can use.
pub(super) struct Scope {
    pub function: String,
    pub variables: HashMap<String, Variable>,
}

impl Converter<'_> {
    /// The declarations that come before a node, outermost first, so that inner ones hide outer ones.
    pub(super) fn scope(&mut self, node: Node<'_>, function: Node<'_>) -> Result<Scope> {
        let mut path = vec![node];
        while let Some(parent) = path.last().and_then(Node::parent) {
            path.push(parent);
        }
        let mut scope = Scope { function: String::new(), variables: HashMap::new() };
        if let Some(name) = super::name_of(function) {
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
            "expression_statement" if self.looks_like_declaration(node) => {
                for variable in self.hidden_declaration(node).ok().flatten().unwrap_or_default() {
                    scope.variables.insert(variable.name.clone(), Variable { global, ..variable });
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
