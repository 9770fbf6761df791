//! The functions of a file, as far as calls of them can be taken apart.

use super::converter::{Converter, Result};
use super::declare::declared_name;
use super::names::is_shared;
use super::{File, first_error};
use crate::ast::{CType, ExprKind, Stmt, StmtKind, Variable};
use crate::codes;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// A function that a file defines.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Variable>,
    /// The type of its value.
    pub returns: CType,
    /// The statements of its body.
    pub body: Vec<Stmt>,
    /// The variables of the file that it can use.
    pub globals: HashMap<String, Variable>,
    /// Those of another source that are the same in all sources which declare them.
    pub shared: HashSet<String>,
    /// Where it begins: from its type to its parameters.
    pub head: Span,
}

impl File<'_> {
    /// A function that the file defines; `None` where it defines no such function, or what it defines cannot be read.
    ///
    /// # Errors
    /// A body that holds something other than plain C.
    pub fn function(&self, name: &str) -> Result<Option<Function>> {
        let root = self.tree.root_node();
        let mut cursor = root.walk();
        let own = |node: &Node<'_>| {
            node.kind() == "function_definition"
                && declared_name(*node)
                    .is_some_and(|own| self.source.text.get(own.byte_range()) == Some(name))
        };
        let Some(node) = root.children(&mut cursor).find(own) else { return Ok(None) };
        let mut converter = Converter::new(self.source);
        let scope = converter.scope(node, node)?;
        for (name, value) in [("true", 1), ("false", 0)] {
            if !scope.variables.contains_key(name) {
                converter.constants.entry(name.to_owned()).or_insert(value);
            }
        }
        if let Some(broken) = first_error(node) {
            let span = self.source.origin.span(broken.byte_range());
            return Err(Box::new(Diagnostic::error(codes::SYNTAX, span, "this could not be parsed")));
        }
        let returns = converter.returned_type(node);
        let parameters = converter.parameters(node);
        let (Some(declarator), Some(body)) =
            (node.child_by_field_name("declarator"), node.child_by_field_name("body"))
        else {
            return Ok(None);
        };
        let StmtKind::Block(body) = converter.statement(body)?.kind else { return Ok(None) };
        let head = self.source.origin.span(node.start_byte()..declarator.end_byte());
        Ok(Some(Function {
            name: name.to_owned(),
            parameters,
            returns,
            body,
            globals: scope.variables,
            shared: HashSet::new(),
            head,
        }))
    }

    /// A function of another source of the program, whose places mean that of the call; `None` where there is none.
    ///
    /// # Errors
    /// Why it cannot be read, or which function it is cannot be known.
    pub fn function_elsewhere(&self, name: &str, place: &Span) -> Result<Option<Function>> {
        let unclear = |name: &str| {
            let message = format!("several sources of the program define a function `{name}`");
            Box::new(Diagnostic::limitation(codes::CALL, place.clone(), message))
        };
        let sources = |name: &str| {
            let own = usize::from(self.functions.contains_key(name));
            own + self.others.iter().filter(|other| other.functions.contains_key(name)).count()
        };
        let Some(source) = self.others.iter().find(|other| other.functions.contains_key(name)) else {
            return Ok(None);
        };
        if sources(name) > 1 {
            return Err(unclear(name));
        }
        let found = source
            .function(name)
            .map_err(|reason| Box::new(Diagnostic::limitation(codes::CALL, place.clone(), reason.message)))?;
        let Some(mut function) = found else { return Ok(None) };
        let mut called = None;
        for stmt in &function.body {
            stmt.walk_expressions(&mut |expr| {
                if let ExprKind::Call(function, _) = &expr.kind
                    && let ExprKind::Name(other) = &function.kind
                    && sources(other) > 1
                {
                    called = Some(other.clone());
                }
            });
        }
        if let Some(other) = called {
            return Err(unclear(&other));
        }
        self.beyond.elsewhere(&mut function.body, source.source.source.text.len(), place);
        // Variables of its own file are others than those of the loop's.
        let variables = function.parameters.iter_mut().chain(function.globals.values_mut());
        variables.for_each(|variable| variable.span = place.clone());
        function.head = place.clone();
        function.shared = function.globals.keys().filter(|name| source.exports(name)).cloned().collect();
        Ok(Some(function))
    }

    /// Whether a variable of the file is the one that other sources mean by its name.
    pub fn exports(&self, name: &str) -> bool {
        is_shared(self.tree.root_node(), &self.source.text, name)
    }

    /// Lets the places of a function's statements mean that of its call, where they are but those of the `#include` of its header.
    pub fn of_header(&self, function: &mut Function, place: &Span) -> bool {
        let text = &self.source.source.text;
        let of_header = text.get(function.head.clone()).is_some_and(|head| head.starts_with('#'));
        if of_header {
            self.beyond.elsewhere(&mut function.body, text.len(), place);
        }
        of_header
    }

    /// Gives the statements of one of its functions, which a loop calls again, places of their own.
    pub fn apart(&self, function: &mut Function) {
        self.beyond.again(&mut function.body, self.source.source.text.len());
    }

    /// A message with places in the user's file.
    pub fn told(&self, reason: Diagnostic) -> Diagnostic {
        self.beyond.told(reason)
    }

    /// The names of the functions that it declares or defines, headers of the user's among them.
    pub fn declared_functions(&self) -> HashSet<String> {
        let mut found: HashSet<String> = self.functions.keys().cloned().collect();
        found.extend(self.others.iter().flat_map(|other| other.functions.keys().cloned()));
        let root = self.tree.root_node();
        let mut cursor = root.walk();
        for node in root.children(&mut cursor).filter(|node| node.kind() == "declaration") {
            let mut cursor = node.walk();
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                let mut at = Some(declarator);
                let mut function = false;
                while let Some(node) = at {
                    function |= node.kind() == "function_declarator";
                    if node.kind() == "identifier" && function {
                        found.extend(self.source.text.get(node.byte_range()).map(str::to_owned));
                    }
                    at = node.child_by_field_name("declarator");
                }
            }
        }
        found
    }
}
