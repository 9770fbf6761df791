//! `assert(condition);`, as the C library's header writes it: `if (condition) ; else __assert_fail(..);` in an expression of statements,
//! or `condition ? (void)0 : __assert_fail(..)`. It is `if (!(condition)) __assert_fail();`, of which other stages know that it ends the
//! program.

use super::converter::{Converter, Result};
use crate::ast::{Expr, ExprKind, Stmt, StmtKind, UnaryOp};
use tree_sitter::Node;

/// What is called where the condition does not hold.
pub(crate) const FAILED: &str = "__assert_fail";

impl Converter<'_> {
    /// What a statement asserts.
    pub(super) fn asserted(&mut self, node: Node<'_>) -> Result<Option<StmtKind>> {
        if !self.text(node).contains(FAILED) {
            return Ok(None);
        }
        let Some(condition) = self.condition_of_assert(node) else { return Ok(None) };
        let span = self.span(node);
        let made = |kind| Expr { kind, span: span.clone() };
        let not = made(ExprKind::Unary(UnaryOp::Not, Box::new(self.expression(condition)?)));
        let function = Box::new(made(ExprKind::Name(FAILED.to_owned())));
        let end = StmtKind::Expr(made(ExprKind::Call(function, Vec::new())));
        Ok(Some(StmtKind::If(not, Box::new(Stmt { kind: end, span: span.clone() }), None)))
    }

    fn condition_of_assert<'a>(&self, node: Node<'a>) -> Option<Node<'a>> {
        let fails = |part: &Node<'_>| self.text(*part).contains(FAILED);
        if matches!(node.kind(), "if_statement" | "conditional_expression")
            && node.child_by_field_name("alternative").is_some_and(|part| fails(&part))
            && node.child_by_field_name("consequence").is_some_and(|part| !fails(&part))
        {
            return node.child_by_field_name("condition").filter(|part| !fails(part));
        }
        let mut cursor = node.walk();
        let list: Vec<Node<'a>> = node.named_children(&mut cursor).filter(fails).collect();
        match list.as_slice() {
            [one] => self.condition_of_assert(*one),
            _ => None,
        }
    }
}
