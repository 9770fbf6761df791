//! `switch` whose groups of statements all end with `break`, as a chain of `if`s.

use super::converter::{Converter, Result};
use crate::ast::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};
use tree_sitter::Node;

/// Statements and the labels before them; `None` is `default`.
struct Group {
    labels: Vec<Option<Expr>>,
    statements: Vec<Stmt>,
}

impl Converter<'_> {
    /// The chain that does the same; `None` where a group goes on with the next one, or is left from within.
    pub(super) fn switch(&mut self, node: Node<'_>) -> Result<Option<StmtKind>> {
        let (Some(condition), Some(body)) =
            (node.child_by_field_name("condition"), node.child_by_field_name("body"))
        else {
            return Ok(None);
        };
        let asked = self.expression(condition)?;
        let mut plain = true;
        asked.walk(&mut |part| {
            plain &= !matches!(
                part.kind,
                ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..) | ExprKind::Other(..)
            );
        });
        let mut cursor = body.walk();
        let cases: Vec<Node<'_>> =
            body.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect();
        if !plain || cases.iter().any(|case| case.kind() != "case_statement") {
            return Ok(None);
        }
        let mut groups: Vec<Group> = Vec::new();
        let mut labels = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            let value = case.child_by_field_name("value");
            labels.push(value.map(|value| self.expression(value)).transpose()?);
            let mut statements = Vec::new();
            let mut cursor = case.walk();
            for child in case.named_children(&mut cursor) {
                if child.kind() != "comment" && value.is_none_or(|value| value.id() != child.id()) {
                    statements.push(self.statement(child)?);
                }
            }
            let last = number + 1 == cases.len();
            if statements.is_empty() && !last {
                continue;
            }
            // A block of its own, whose names nobody else sees.
            if let [Stmt { kind: StmtKind::Block(list), .. }] = statements.as_slice() {
                statements = list.clone();
            } else if let [Stmt { kind: StmtKind::Block(list), .. }, behind] = statements.as_slice()
                && is_break(behind)
            {
                statements = list.iter().chain([behind]).cloned().collect();
            } else if statements.iter().any(|stmt| matches!(stmt.kind, StmtKind::Declaration(_))) {
                return Ok(None);
            }
            match statements.last() {
                Some(end) if is_break(end) => {
                    statements.pop();
                }
                Some(Stmt { kind: StmtKind::Return(_), .. }) => {}
                _ if last => {}
                _ => return Ok(None),
            }
            if statements.iter().any(leaves) {
                return Ok(None);
            }
            groups.push(Group { labels: std::mem::take(&mut labels), statements });
        }
        let span = self.span(node);
        let block =
            |statements: Vec<Stmt>| Box::new(Stmt { kind: StmtKind::Block(statements), span: span.clone() });
        let (default, others): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|group| group.labels.iter().any(Option::is_none));
        let mut otherwise = default.into_iter().next().map(|group| block(group.statements));
        for group in others.into_iter().rev() {
            let equal = |label: Expr| Expr {
                span: label.span.clone(),
                kind: ExprKind::Binary(BinaryOp::Equal, Box::new(asked.clone()), Box::new(label)),
            };
            let any = group.labels.into_iter().flatten().map(equal).reduce(|a, b| Expr {
                span: a.span.clone(),
                kind: ExprKind::Binary(BinaryOp::Or, Box::new(a), Box::new(b)),
            });
            let Some(any) = any else { return Ok(None) };
            let kind = StmtKind::If(any, block(group.statements), otherwise);
            otherwise = Some(Box::new(Stmt { kind, span: span.clone() }));
        }
        Ok(Some(otherwise.map_or(StmtKind::Empty, |stmt| stmt.kind)))
    }
}

fn is_break(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Other(kind, _) if kind == "break")
}

/// Whether a `break` of the `switch` stands in a statement.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Block(list) => list.iter().any(leaves),
        StmtKind::If(_, then, otherwise) => {
            leaves(then) || otherwise.as_ref().is_some_and(|otherwise| leaves(otherwise))
        }
        // Labels, `goto`, another `switch`.
        StmtKind::Other(kind, _) => kind != "continue",
        _ => false,
    }
}
