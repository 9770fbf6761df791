//! Loops along a column of a flat array, `for (k = first; k < limit; k += m)`, as loops over rows.
//!
//! With `limit - first = p * m + r`, where `r` is a number of fewer than `m` points, the rounds are those of `row` in
//!
//! ```text
//! for (row = 0; row < p + (r > 0); row++) { k = first + row * m; .. }
//! ```
//!
//! That `m` is as large is asked before the time loop, which runs as it is written where it is not.

use super::bind::declaration;
use super::inliner::Inliner;
use super::rename::{assigns, assigns_member, is_pure};
use super::sums::{Sum, Terms};
use crate::ast::{BinaryOp, CType, Expr, ExprKind, ForLoop, Stmt, StmtKind};
use crate::integer::literal;
use crate::nest::{ENDS, counted_by};
use polyhedral::source::Span;

/// Loops that count by as much or less may be passes over every second point.
const MOST_COLOURS: i64 = 4;

impl Inliner<'_> {
    /// A loop that counts by the length of a row, as one over rows.
    pub(super) fn by_strides(&mut self, source: &ForLoop, span: &Span) -> Option<Vec<Stmt>> {
        let (name, first, limit, by) = counted_by(source)?;
        let declared = match source.start.as_ref().map(|start| &start.kind) {
            Some(StmtKind::Declaration(own)) => Some(own.first()?.ctype.clone()),
            _ => None,
        };
        let known = || self.declared.get(&name).or_else(|| Some(&self.variables.get(&name)?.ctype));
        let ctype = declared.as_ref().or_else(known)?.clone();
        let body = std::slice::from_ref(&source.body);
        let stays = |expr: &Expr| {
            let mut plain = is_pure(expr) && self.is_signed(expr);
            expr.walk(&mut |part| match &part.kind {
                ExprKind::Name(own) => plain &= *own != name && !assigns(body, own),
                ExprKind::Member(_, _, own) => plain &= !assigns_member(body, own),
                ExprKind::Integer { .. } | ExprKind::Binary(..) | ExprKind::Cast(..) => {}
                _ => plain = false,
            });
            plain
        };
        let signed = matches!(ctype, CType::Integer { unsigned: false, .. });
        // Blocks that are made by hand have loops over their points.
        let mut plain = signed && !assigns(body, &name);
        source.body.walk(&mut |part| match &part.kind {
            StmtKind::For(_) | StmtKind::While(_) | StmtKind::Return(_) => plain = false,
            StmtKind::Other(kind, _) => plain &= kind != "break" && kind != "goto",
            _ => {}
        });
        if !plain || ![&first, &limit, &by].into_iter().all(stays) {
            return None;
        }
        let terms = &mut Terms::default();
        let (low, high) = (self.sum(&first, terms)?, self.sum(&limit, terms)?);
        let stride = self.sum(&by, terms)?;
        let length = high.plus(&low.times(&Sum::number(-1))?)?;
        let (rows, left) = length.divided(&stride)?;
        if stride.number_of().is_some_and(|by| by <= MOST_COLOURS || left.abs() >= by) {
            return None;
        }
        let rows = rows.plus(&Sum::number(i64::from(left > 0)))?;
        let made = |kind| Expr { kind, span: span.clone() };
        let number = |value: i64| made(ExprKind::Integer { value, text: value.to_string() });
        let binary = |operator, a: Expr, b: Expr| made(ExprKind::Binary(operator, Box::new(a), Box::new(b)));
        let named = |name: &str| made(ExprKind::Name(name.to_owned()));
        let rows = terms.expression(&rows, span)?;
        let row = self.fresh(&name);
        self.declared.insert(row.clone(), ctype.clone());
        let at = |row: Expr| binary(BinaryOp::Add, first.clone(), binary(BinaryOp::Mul, row, by.clone()));
        let assigned = |value: Expr| {
            let kind = ExprKind::Assign(None, Box::new(named(&name)), Box::new(value));
            Stmt { kind: StmtKind::Expr(made(kind)), span: span.clone() }
        };
        let lasts = declared.is_none();
        let index = match declared {
            Some(ctype) => declaration(&name, ctype, Some(at(named(&row))), span),
            None => assigned(at(named(&row))),
        };
        let mut list = Vec::new();
        if literal(&by).is_none() {
            let small = binary(BinaryOp::LessEqual, by.clone(), number(left.abs()));
            let kind = ExprKind::Call(Box::new(named(ENDS)), vec![small]);
            list.push(Stmt { kind: StmtKind::Expr(made(kind)), span: span.clone() });
        }
        let looped = ForLoop {
            start: Some(declaration(&row, ctype, Some(number(0)), span)),
            condition: Some(binary(BinaryOp::Less, named(&row), rows.clone())),
            step: Some(made(ExprKind::Step(1, Box::new(named(&row))))),
            body: Stmt {
                kind: StmtKind::Block(vec![index, source.body.clone()]),
                span: source.body.span.clone(),
            },
            head: source.head.clone(),
        };
        list.push(Stmt { kind: StmtKind::For(Box::new(looped)), span: span.clone() });
        // What the loop leaves in its index.
        if lasts {
            list.push(assigned(at(rows)));
        }
        Some(list)
    }
}
