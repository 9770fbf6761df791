//! Statements.

use super::converter::{Converter, Result};
use super::expression::inner;
use super::names::names_within;
use super::within::{any_within, may_change};
use crate::ast::{CType, Expr, ExprKind, ForLoop, Stmt, StmtKind, Variable, WhileLoop};
use crate::codes;
use polyhedral::diagnostic::Diagnostic;
use tree_sitter::Node;

impl Converter<'_> {
    /// A statement.
    pub(super) fn statement(&mut self, node: Node<'_>) -> Result<Stmt> {
        self.places.push((self.span(node), node.byte_range()));
        let kind = self.deeper(node, |this| this.statement_kind(node))?;
        Ok(Stmt { kind, span: self.span(node) })
    }

    fn runs_once(&mut self, node: Node<'_>) -> Result<bool> {
        let Some(condition) = node.child_by_field_name("condition") else { return Ok(false) };
        let condition = self.expression(condition)?;
        Ok(crate::integer::literal(&condition) == Some(0))
    }

    fn statement_kind(&mut self, node: Node<'_>) -> Result<StmtKind> {
        Ok(match node.kind() {
            "comment" => StmtKind::Empty,
            "compound_statement" => {
                let mut cursor = node.walk();
                let mut list = Vec::new();
                for child in node.named_children(&mut cursor).filter(|child| child.kind() != "comment") {
                    let mut stmt = self.statement(child)?;
                    start_before(list.last(), &mut stmt);
                    list.push(stmt);
                }
                StmtKind::Block(list)
            }
            "declaration" if self.is_cleaned_up(node) => self.other(node),
            "declaration" => {
                // A table of constants has no life of its own.
                let table = |list: &[Variable]| {
                    list.iter().all(|one| {
                        let listed = one.value.as_ref().map(|value| &value.kind);
                        one.constant
                            && matches!(one.ctype, CType::Array(..))
                            && matches!(listed, Some(ExprKind::List(_)))
                    })
                };
                let variables = self.declaration(node)?;
                if let Some(storage) =
                    self.storage(node).filter(|word| *word != "static" || !table(&variables))
                {
                    let message = format!("a variable declared `{storage}` in the region");
                    return Err(Box::new(
                        Diagnostic::limitation(codes::STATEMENT, self.span(node), message)
                            .note("it keeps its value from one round to the next")
                            .hint("declare it before the region"),
                    ));
                }
                StmtKind::Declaration(variables)
            }
            // The length of an array is computed where its type is named.
            "type_definition" if any_within(node, may_change) => self.other(node),
            "type_definition" => {
                self.type_definition(node);
                StmtKind::Empty
            }
            "return_statement" => match inner(node) {
                Some(child) => StmtKind::Return(Some(self.expression(child)?)),
                None => StmtKind::Return(None),
            },
            "switch_statement" => match self.switch(node)? {
                Some(chain) => chain,
                None => self.other(node),
            },
            "expression_statement" => match inner(node) {
                Some(_) if self.looks_like_declaration(node) => match self.hidden_declaration(node)? {
                    Some(variables) => StmtKind::Declaration(variables),
                    None => self.other(node),
                },
                Some(child) => match self.asserted(child)? {
                    Some(asserted) => asserted,
                    None => StmtKind::Expr(unwanted(self.expression(child)?)),
                },
                None => StmtKind::Empty,
            },
            "for_statement" => {
                let start = match node.child_by_field_name("initializer") {
                    Some(start) if start.kind() == "declaration" => Some(self.statement(start)?),
                    Some(start) => {
                        let expr = unwanted(self.expression(start)?);
                        Some(Stmt { span: expr.span.clone(), kind: StmtKind::Expr(expr) })
                    }
                    None => None,
                };
                let condition = match node.child_by_field_name("condition") {
                    Some(condition) => Some(self.expression(condition)?),
                    None => None,
                };
                let step = match node.child_by_field_name("update") {
                    Some(step) => Some(unwanted(self.expression(step)?)),
                    None => None,
                };
                let Some(body) = node.child_by_field_name("body") else { return Err(self.unreadable(node)) };
                let mut head = self.span(node);
                head.end = head.end.min(self.span(body).start.max(head.start));
                let body = self.statement(body)?;
                StmtKind::For(Box::new(ForLoop { start, condition, step, body, head }))
            }
            "if_statement" => {
                let (Some(condition), Some(then)) =
                    (node.child_by_field_name("condition"), node.child_by_field_name("consequence"))
                else {
                    return Err(self.unreadable(node));
                };
                let condition = self.expression(condition)?;
                let then = Box::new(self.statement(then)?);
                let otherwise = match node.child_by_field_name("alternative").and_then(inner) {
                    Some(otherwise) => Some(Box::new(self.statement(otherwise)?)),
                    None => None,
                };
                StmtKind::If(condition, then, otherwise)
            }
            // `do { .. } while (0)`, as macros have it.
            "do_statement" if self.runs_once(node)? => match node.child_by_field_name("body") {
                Some(body) => self.statement(body)?.kind,
                None => return Err(self.unreadable(node)),
            },
            "while_statement" | "do_statement" => {
                let (Some(condition), Some(body)) =
                    (node.child_by_field_name("condition"), node.child_by_field_name("body"))
                else {
                    return Err(self.unreadable(node));
                };
                let behind = node.kind() == "do_statement";
                let mut head = self.span(node);
                let end = if behind { head.start + "do".len() } else { self.span(body).start };
                head.end = head.end.min(end.max(head.start));
                let condition = self.expression(condition)?;
                let body = self.statement(body)?;
                StmtKind::While(Box::new(WhileLoop { condition, body, behind, head }))
            }
            _ => self.other(node),
        })
    }

    /// A statement that is known by the name of its kind alone.
    fn other(&self, node: Node<'_>) -> StmtKind {
        let mut names = Vec::new();
        names_within(node, &self.source.text, &mut |_, name| names.push(name.to_owned()));
        StmtKind::Other(node.kind().trim_end_matches("_statement").replace('_', " "), names)
    }
}

/// `i = 0; for (; i < n; i++)` says where its index starts: in the statement before.
fn start_before(before: Option<&Stmt>, stmt: &mut Stmt) {
    let StmtKind::For(source) = &mut stmt.kind else { return };
    let (None, Some(ExprKind::Step(_, index)), Some(before)) =
        (&source.start, source.step.as_ref().map(|step| &step.kind), before)
    else {
        return;
    };
    let value = match &before.kind {
        StmtKind::Declaration(list) => list.last().and_then(|one| match &index.kind {
            ExprKind::Name(name) if one.name == *name => one.value.clone(),
            _ => None,
        }),
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. })
            if target.kind == index.kind && matches!(index.kind, ExprKind::Name(_)) =>
        {
            Some((**value).clone())
        }
        _ => None,
    };
    let Some(value) = value.filter(|value| crate::integer::literal(value).is_some()) else { return };
    let span = before.span.clone();
    let kind = ExprKind::Assign(None, index.clone(), Box::new(value));
    source.start = Some(Stmt { kind: StmtKind::Expr(Expr { kind, span: span.clone() }), span });
}

/// An expression whose value is not wanted, as which `(void)f()` is `f()`.
fn unwanted(expr: Expr) -> Expr {
    let kind = match expr.kind {
        ExprKind::Cast(CType::Other(to), inner) if to == "void" && has_effect(&inner) => {
            return unwanted(*inner);
        }
        ExprKind::Comma(left, right) => {
            ExprKind::Comma(Box::new(unwanted(*left)), Box::new(unwanted(*right)))
        }
        kind => kind,
    };
    Expr { kind, ..expr }
}

/// Whether an evaluation may change something.
fn has_effect(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= matches!(part.kind, ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..));
    });
    found
}
