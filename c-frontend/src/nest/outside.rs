//! Values that no data enter: they are computed before the loop, and enter the program as parameters, series and fields.

use super::depends::Depends;
use super::loops::{ReadOf, Scalar, Series};
use super::math::{END, is_pure};
use super::refusal::{Result, limitation};
use super::scalars::Held;
use super::walker::Walker;
use crate::ast::{CType, Expr as CExpr, ExprKind as CKind, UnaryOp};
use crate::codes;
use crate::parse::literal;
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::program::{ElementType, Expr, ExprKind, ParameterId, SeriesId};
use polyhedral::source::Span;

impl Walker<'_> {
    /// A value that no data enter: a parameter, a series, or a value of the place.
    pub(super) fn outside(&mut self, expr: &CExpr, depends: Depends, element: ElementType) -> Result<Expr> {
        self.check_calls(expr)?;
        let span = expr.span.clone();
        let expr = &self.guarded(expr, depends)?;
        let addresses: Vec<String> = match depends.place {
            true => Vec::new(),
            false => self
                .addresses(expr)
                .iter()
                .map(|address| c_text(address, &|name| self.integer_text(name)))
                .collect(),
        };
        match (depends.time, depends.place) {
            (false, false) => {
                let mut text = c_text(expr, &|name| self.integer_text(name));
                // Not by way of double, which would round twice.
                if element == ElementType::F32 && self.int_type(expr).is_some_and(|own| own.bits > 32) {
                    text = format!("(float){text}");
                }
                addresses.into_iter().for_each(|address| self.reads_memory(address));
                let id = self.scalar(text, self.known_value(expr), &span);
                Ok(Expr { kind: ExprKind::Parameter(id), element, span })
            }
            (true, false) => {
                let text = c_text(expr, &|name| self.integer_text(name));
                let known =
                    self.nest.series.iter().position(|one| one.text == text && one.element == element);
                let id = known.unwrap_or_else(|| {
                    self.nest.series.push(Series { text, element, span: span.clone(), memory: addresses });
                    self.nest.series.len() - 1
                });
                Ok(Expr { kind: ExprKind::Series(SeriesId(id), 0), element, span })
            }
            (false, true) => {
                let expr = self.without_integers(expr);
                let addresses = self.addresses(&expr);
                self.read(ReadOf::Place(expr, addresses, element), element, &span)
            }
            (true, true) => {
                let message = "this value depends on the time step and on the place at once";
                Err(Box::new(
                    Diagnostic::limitation(codes::TIME_VALUE, span, message).note(
                        "values of either alone are supported: they are computed once, before the loop",
                    ),
                ))
            }
        }
    }

    /// The expression with integers that the loop computes written out.
    pub(super) fn without_integers(&self, expr: &CExpr) -> CExpr {
        let mut result = expr.clone();
        self.write_out(&mut result);
        result
    }

    /// Writes out the integers that the loop computes.
    pub(super) fn write_out(&self, expr: &mut CExpr) {
        if let CKind::Name(name) = &expr.kind
            && let Some(Held::Integer(_, value)) = self.environment.get(name)
        {
            *expr = value.clone();
        }
        match &mut expr.kind {
            CKind::Integer { .. }
            | CKind::Floating { .. }
            | CKind::Name(_)
            | CKind::Turn { .. }
            | CKind::Other(..) => {}
            CKind::Index(a, b) | CKind::Binary(_, a, b) | CKind::Assign(_, a, b) | CKind::Comma(a, b) => {
                self.write_out(a);
                self.write_out(b);
            }
            CKind::Call(_, list) | CKind::List(list) => list.iter_mut().for_each(|one| self.write_out(one)),
            CKind::Unary(_, a) | CKind::Step(_, a) | CKind::Cast(_, a) | CKind::Member(a, ..) => {
                self.write_out(a)
            }
            CKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|one| self.write_out(one)),
        }
    }

    /// Calls in values from outside must be of math.h, and nothing may change anything.
    pub(super) fn check_calls(&self, expr: &CExpr) -> Result<()> {
        let mut problem = Ok(());
        expr.walk(&mut |part| {
            if problem.is_err() {
                return;
            }
            problem = match &part.kind {
                CKind::Call(function, _) => match &function.kind {
                    CKind::Name(name) if self.is_own(name) => self.not_a_function(name, &part.span),
                    CKind::Name(name) if is_pure(name) => Ok(()),
                    CKind::Name(name) => self.not_a_function(name, &part.span),
                    _ => limitation(codes::CALL, &part.span, "a call through a pointer"),
                },
                CKind::Assign(..) | CKind::Step(..) => {
                    limitation(codes::EXPRESSION, &part.span, "an assignment within a value")
                }
                CKind::Other(kind, _) if kind == END => self.kind_of(part).map(drop),
                CKind::Turn { from, .. } => limitation(
                    codes::TIME_VALUE,
                    &part.span,
                    format!("`{from}` takes turns, and chooses something other than a buffer here"),
                ),
                CKind::Name(name)
                    if !self.region.variables.contains_key(name)
                        && self.environment.get(name).is_none()
                        && self.open_loop(name).is_none()
                        && *name != self.nest.time.name
                        && !self.region.functions.contains_key(name)
                        && !is_pure(name) =>
                {
                    self.unknown(name, &part.span)
                }
                _ => Ok(()),
            };
        });
        problem
    }

    fn scalar(&mut self, text: String, known: Option<f64>, span: &Span) -> ParameterId {
        let at = self.nest.scalars.iter().position(|one| one.text == text).unwrap_or_else(|| {
            self.nest.scalars.push(Scalar { text, known, span: span.clone() });
            self.nest.scalars.len() - 1
        });
        ParameterId(at)
    }

    /// The value that a scalar is declared with, where that is a literal.
    fn known_value(&self, expr: &CExpr) -> Option<f64> {
        match &expr.kind {
            CKind::Floating { text, .. } => literal::floating_value(text),
            CKind::Integer { value, .. } => Some(*value as f64),
            CKind::Unary(UnaryOp::Minus, operand) => Some(-self.known_value(operand)?),
            CKind::Cast(CType::Floating(_), operand) => self.known_value(operand),
            CKind::Name(name) => {
                let variable = self.region.variables.get(name)?;
                let value = variable.value.as_ref()?;
                // Not round in circles: what a declaration mentions is declared before it.
                (!value.mentions(name)).then(|| match &value.kind {
                    CKind::Name(_) => None,
                    _ => self.known_value(value),
                })?
            }
            _ => None,
        }
    }
}
