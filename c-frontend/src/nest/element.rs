//! Elements of arrays, and what is read of them.

use super::around;
use super::depends::Depends;
use super::exchange;
use super::loops::{Element, Order, Read, ReadOf, Touched};
use super::refusal::{Result, error, limitation};
use super::walker::Walker;
use crate::ast::{BinaryOp as COperator, Expr as CExpr, ExprKind as CKind, StmtKind, UnaryOp};
use crate::codes;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::program::{Access, ElementType, Expr, ExprKind, FieldId, LocalId};
use polyhedral::source::Span;
use std::collections::HashSet;

impl Walker<'_> {
    /// An element of an array.
    pub(super) fn element_value(
        &mut self,
        expr: &CExpr,
        depends: Depends,
        element: ElementType,
    ) -> Result<Expr> {
        let (base, indices) = subscripts(expr);
        let CKind::Name(name) = &base.kind else {
            return limitation(codes::ARRAY, &base.span, "an array that is not a variable of its own");
        };
        if !self.states.contains(name) && (!depends.place || depends.data) {
            if self.assigned.contains(name) {
                return exchange::not_exchanged(&self.region.statements, name, &base.span);
            }
            if depends.data {
                return limitation(codes::SUBSCRIPT, &expr.span, "a subscript that depends on the data");
            }
            return self.outside(expr, depends, element);
        }
        let polynomials: Option<Vec<_>> = indices.iter().map(|index| self.polynomial(index)).collect();
        let Some(indices) = polynomials else {
            if self.states.contains(name) {
                return self.wrong_subscript(&indices);
            }
            return self.outside(expr, depends, element);
        };
        let Some((plain, around)) = around::unmarked(&indices) else {
            return limitation(
                codes::SUBSCRIPT,
                &expr.span,
                "a subscript that computes with an index that wraps around",
            );
        };
        if !self.states.contains(name) {
            if depends.time {
                return self.outside(expr, depends, element);
            }
            // Under a condition that follows from the place, it is read where that holds.
            let whole = self.guarded_by_place(depends);
            if whole {
                return self.outside(expr, depends, element);
            }
            let (array, span) = (name.clone(), expr.span.clone());
            let own = Element { array, indices: plain, around, element, span };
            let written = self.without_integers(expr);
            let addresses = self.addresses(&written);
            return self.read(ReadOf::Coefficient(own, written, addresses), element, &expr.span);
        }
        let known = self.environment.elements.iter().find(|(array, at, _)| array == name && *at == indices);
        if let Some((_, _, temporary)) = known {
            let kind = ExprKind::Local(LocalId(*temporary));
            return Ok(Expr { kind, element, span: expr.span.clone() });
        }
        let own = Element { array: name.clone(), indices: plain, around, element, span: expr.span.clone() };
        self.read(ReadOf::State(own), element, &expr.span)
    }

    /// The first scalar of a subscript that statements of the loop move on by a step, as `k` of `a[k++]`.
    fn counter_in(&self, index: &CExpr) -> Option<String> {
        let mut moved = HashSet::new();
        let mut note = |part: &CExpr| {
            if let CKind::Step(_, target) | CKind::Assign(Some(_), target, _) = &part.kind
                && let CKind::Name(name) = &target.kind
            {
                moved.insert(name.clone());
            }
        };
        for stmt in &self.region.statements {
            stmt.walk(&mut |stmt| {
                if let StmtKind::Expr(expr) = &stmt.kind {
                    expr.walk(&mut note);
                }
            });
        }
        let mut found = None;
        index.walk(&mut |part| {
            if let CKind::Name(name) = &part.kind
                && self.assigned.contains(name)
                && moved.contains(name)
            {
                found.get_or_insert(name.clone());
            }
        });
        found
    }

    /// Says which of some subscripts is no polynomial.
    pub(super) fn wrong_subscript<T>(&self, indices: &[&CExpr]) -> Result<T> {
        let Some(index) = indices.iter().find(|index| self.polynomial(index).is_none()) else {
            return error(codes::SUBSCRIPT, &(0..0), "a subscript could not be read");
        };
        let counter = self.counter_in(index);
        let message = if let Some(name) = &counter {
            format!("a subscript that counts on from point to point, by `{name}`")
        } else if self.depends(index).data {
            "a subscript that depends on the data".to_owned()
        } else {
            "a subscript that is not affine in the loops' indices".to_owned()
        };
        let mut diagnostic = Diagnostic::limitation(codes::SUBSCRIPT, index.span.clone(), message)
            .note("subscripts are an index plus a constant, so that the distance of every read is known");
        let mut wraps = false;
        index.walk(&mut |part| {
            wraps |= matches!(&part.kind, CKind::Conditional(..) | CKind::Binary(COperator::Rem, ..));
        });
        if let CKind::Name(name) = &index.kind
            && self.assigned.contains(name)
            && self.region.variables.contains_key(name)
            && counter.is_none()
        {
            diagnostic = diagnostic.note(format!(
                "`{name}` is assigned in each step; of numbers of buffers two may be exchanged, or each may count: `{name} = ({name} + 1) % 3`"
            ));
        }
        if wraps && !self.depends(index).data {
            diagnostic = diagnostic.note(AROUND);
        }
        Err(Box::new(diagnostic))
    }

    pub(super) fn read(&mut self, what: ReadOf, element: ElementType, span: &Span) -> Result<Expr> {
        let (touched, order) = (self.touched(), self.order.clone());
        self.read_at(what, element, span, touched, &order)
    }

    pub(super) fn read_at(
        &mut self,
        what: ReadOf,
        element: ElementType,
        span: &Span,
        touched: Touched,
        order: &Order,
    ) -> Result<Expr> {
        // Pieces that compute the same have the same reads.
        let walked = &self.read.walked;
        let known = self.nest.reads.iter().zip(walked).position(|(read, walked)| {
            *walked == touched
                && read.span == *span
                && read.order == *order
                && read.path == self.path
                && read.what == what
        });
        let number = known.unwrap_or_else(|| {
            let read =
                Read { what, span: span.clone(), order: order.clone(), touched, path: self.path.clone() };
            self.nest.reads.push(read);
            self.read.walked.push(touched);
            self.nest.reads.len() - 1
        });
        self.note_read(number, touched);
        let access = Access { field: FieldId(number), time: 0, offset: Vec::new() };
        Ok(Expr { kind: ExprKind::Read(access), element, span: span.clone() })
    }
}

/// What an index looks like that wraps around.
pub(crate) const AROUND: &str = "a grid wraps around where a loop runs from 0 to before `n` and its subscripts are \
     `(i + 1) % n`, `(i - 1 + n) % n` or `i == 0 ? n - 1 : i - 1`, with this loop's own `n`";

/// The array and the subscripts of an element, outermost first: `a[i][j]`, `*(a + i)`, `(*a)[i]`.
pub(super) fn subscripts(expr: &CExpr) -> (&CExpr, Vec<&CExpr>) {
    static ZERO: CExpr = CExpr { kind: CKind::Integer { value: 0, text: String::new() }, span: 0..0 };
    let mut indices = Vec::new();
    let mut at = expr;
    loop {
        match &at.kind {
            CKind::Index(array, index) => {
                indices.push(&**index);
                at = array;
            }
            CKind::Unary(UnaryOp::Dereference, pointer) => match &pointer.kind {
                CKind::Binary(COperator::Add, array, index) => {
                    indices.push(&**index);
                    at = array;
                }
                _ => {
                    indices.push(&ZERO);
                    at = pointer;
                }
            },
            _ => break,
        }
    }
    indices.reverse();
    (at, indices)
}

/// The elements and names that are touched whatever conditions within a value say.
pub(super) fn always<'a>(expr: &'a CExpr, visit: &mut dyn FnMut(&'a CExpr)) {
    match &expr.kind {
        CKind::Conditional(condition, ..) => always(condition, visit),
        CKind::Binary(COperator::And | COperator::Or, left, _) => always(left, visit),
        CKind::Binary(_, a, b) | CKind::Assign(_, a, b) | CKind::Comma(a, b) => {
            always(a, visit);
            always(b, visit);
        }
        CKind::Unary(_, a) | CKind::Cast(_, a) | CKind::Step(_, a) => always(a, visit),
        CKind::Call(_, arguments) => arguments.iter().for_each(|one| always(one, visit)),
        CKind::Index(..) | CKind::Name(_) => visit(expr),
        _ => {}
    }
}
