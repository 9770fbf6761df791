//! Values: typed expressions in which each operation and each conversion is that of C.
//!
//! C combines two operands in the larger of their types (`0.5 * x` is computed in double for a `float x`), converts
//! what is stored to the type of the target, and computes integers as integers. What follows from indices alone, or
//! from time alone, is left to the C compiler and enters the program as data.

use super::depends::Depends;
use super::math::{Math, is_special, math_function};
use super::refusal::{Result, error, limitation};
use super::scalars::{Held, Kind};
use super::typed::{cast, element_of, number};
use super::walker::Walker;
use crate::ast::{BinaryOp as COperator, Expr as CExpr, ExprKind as CKind, Floating, UnaryOp};
use crate::codes;
use crate::integer;
use crate::parse::literal;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::math::Libm2;
use polyhedral::program::{BinaryOp, ElementType, Expr, ExprKind, LocalId};
use polyhedral::source::Span;

/// Most operations of one region.
const MOST_OPERATIONS: usize = 200_000;

impl Walker<'_> {
    /// A value of an element type, converted as C would.
    pub(super) fn converted(&mut self, expr: &CExpr, element: ElementType) -> Result<Expr> {
        let kind = self.kind_of(expr)?;
        let own = match kind {
            Kind::Integer => return self.integer_value(expr, element),
            Kind::Floating(kind) => element_of(kind),
        };
        if own.is_none() {
            return limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are");
        }
        let value = self.value(expr)?;
        Ok(cast(value, element))
    }

    /// An integer that takes part in floating-point arithmetic, converted to its type.
    fn integer_value(&mut self, expr: &CExpr, element: ElementType) -> Result<Expr> {
        if let Some(value) = integer::literal(expr) {
            return Ok(number(value as f64, element, &expr.span));
        }
        let depends = self.depends(expr);
        if depends.data {
            if self.is_condition(expr) {
                let condition = Box::new(self.condition(expr)?);
                let (one, zero) = (number(1.0, element, &expr.span), number(0.0, element, &expr.span));
                let kind = ExprKind::Select(condition, Box::new(one), Box::new(zero));
                return Ok(Expr { kind, element, span: expr.span.clone() });
            }
            return self.whole_number(expr, element);
        }
        self.outside(expr, depends, element)
    }

    pub(super) fn count(&mut self, span: &Span) -> Result<()> {
        self.operations += 1;
        if self.operations > MOST_OPERATIONS {
            return limitation(
                codes::TOO_DEEP,
                span,
                "the statements of the region have too many operations",
            );
        }
        Ok(())
    }

    /// A floating-point value, in its own type.
    pub(super) fn value(&mut self, expr: &CExpr) -> Result<Expr> {
        self.count(&expr.span)?;
        let Kind::Floating(kind) = self.kind_of(expr)? else {
            return self.integer_value(expr, ElementType::F64);
        };
        let Some(element) = element_of(kind) else {
            return limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are");
        };
        let span = expr.span.clone();
        let depends = self.depends(expr);
        if !depends.data && depends.bare {
            return self.bare_value(expr, depends, element);
        }
        let made = |kind| Ok(Expr { kind, element, span: expr.span.clone() });
        match &expr.kind {
            CKind::Floating { text, kind } => {
                let value = match kind {
                    Floating::Float => literal::single_value(text).map(f64::from),
                    _ => literal::floating_value(text),
                };
                match value {
                    Some(value) => Ok(number(value, element, &span)),
                    None => limitation(codes::EXPRESSION, &span, "a literal that cannot be read"),
                }
            }
            CKind::Name(name) => match self.environment.get(name) {
                Some(Held::Temporary(id, _)) => made(ExprKind::Local(LocalId(*id))),
                Some(Held::Carried(_, place)) => self.carried(name, place.clone(), &span),
                Some(Held::Nothing(_)) => {
                    error(codes::EXPRESSION, &span, format!("`{name}` is used before it has a value"))
                }
                Some(Held::Integer(..) | Held::Whole { .. }) => self.integer_value(expr, element),
                None if self.assigned.contains(name) => self.changes_with_steps(name, &span),
                None => self.outside(expr, depends, element),
            },
            CKind::Index(..) | CKind::Unary(UnaryOp::Dereference, _) => {
                self.element_value(expr, depends, element)
            }
            CKind::Member(..) => self.outside(expr, depends, element),
            CKind::Unary(UnaryOp::Plus, operand) => self.value(operand),
            CKind::Unary(UnaryOp::Minus, operand) => {
                let operand = self.value(operand)?;
                match operand.kind {
                    ExprKind::Literal(value) => Ok(number(-value, element, &span)),
                    _ => made(ExprKind::Negate(Box::new(operand))),
                }
            }
            // `DBL_MAX` is a long double constant that is converted to double.
            CKind::Cast(_, operand)
                if !depends.data && self.kind_of(operand)? == Kind::Floating(Floating::LongDouble) =>
            {
                self.outside(expr, depends, element)
            }
            CKind::Cast(_, operand) => self.converted(operand, element),
            CKind::Conditional(condition, then, otherwise) => {
                // Known without the data: the C compiler evaluates what is chosen only.
                if !(depends.data || depends.time && depends.place) {
                    return self.outside(expr, depends, element);
                }
                let truth = Box::new(self.condition(condition)?);
                let then = self.under(condition, true, |this| this.converted(then, element))?;
                let otherwise = self.under(condition, false, |this| this.converted(otherwise, element))?;
                made(ExprKind::Select(truth, Box::new(then), Box::new(otherwise)))
            }
            CKind::Call(function, _) if is_special(function) => self.outside(expr, depends, element),
            CKind::Call(function, arguments) => self.call(function, arguments, &span),
            CKind::Binary(..) => self.arithmetic(expr),
            _ => limitation(codes::EXPRESSION, &span, "this operation is not supported in a stencil"),
        }
    }

    /// A value that follows from indices, not all of them in subscripts: left to the C compiler, as a whole or in
    /// parts that depend on time or on the place.
    fn bare_value(&mut self, expr: &CExpr, depends: Depends, element: ElementType) -> Result<Expr> {
        if depends.time
            && depends.place
            && matches!(expr.kind, CKind::Binary(..) | CKind::Call(..) | CKind::Unary(..))
        {
            return match &expr.kind {
                CKind::Binary(..) => self.arithmetic(expr),
                CKind::Call(function, arguments) => self.call(function, arguments, &expr.span),
                CKind::Unary(UnaryOp::Minus, operand) => {
                    let kind = ExprKind::Negate(Box::new(self.value(operand)?));
                    Ok(Expr { kind, element, span: expr.span.clone() })
                }
                _ => self.outside(expr, depends, element),
            };
        }
        self.outside(expr, depends, element)
    }

    pub(super) fn carried<T>(&self, name: &str, place: Span, span: &Span) -> Result<T> {
        if let [.., outer, inner] = self.path.as_slice()
            && super::whole_row::is_one(
                &self.region.statements,
                name,
                [*outer, *inner].map(|at| &self.nest.loops[at]),
            )
        {
            let [outer, inner] = [*outer, *inner].map(|at| &self.nest.loops[at].name);
            let reason = super::refusal::takes_all(inner, outer, span);
            return Err(Box::new(reason.label(format!("`{name}` is computed of all of them"))));
        }
        let message = format!("`{name}` carries a value from one point to the next");
        let around = self.path.last().map_or(&self.nest.time.name, |at| &self.nest.loops[*at].name);
        Err(Box::new(
            Diagnostic::limitation(codes::REDUCTION, span.clone(), message)
                .label("read before this point has assigned it")
                .related(place, "assigned here")
                .note(format!("a flow dependence over `{name}`, carried by the loop over `{around}`"))
                .note("a stencil computes all points of a step independently; a sum or maximum over them does not fit")
                .hint("compute it behind the region"),
        ))
    }

    /// Refuses a scalar that keeps a value from step to step.
    pub(super) fn changes_with_steps<T>(&self, name: &str, span: &Span) -> Result<T> {
        let changes = self.region.statements.iter().flat_map(super::scalars::assigned_within);
        let Some((_, place)) = changes.into_iter().find(|(other, _)| other == name) else {
            return self.carried(name, span.clone(), span);
        };
        let message =
            format!("`{name}` changes from one time step to the next, in another way than by counting");
        Err(Box::new(
            Diagnostic::limitation(codes::REDUCTION, span.clone(), message)
                .label("the stencil needs it here")
                .related(place, "changed here")
                .note("what steps compute with stays the same in all of them, follows from the time index, or is computed anew in each step")
                .hint(format!("compute its values before the time loop into an array, and read `{name}[step]`")),
        ))
    }

    /// `a + b * c ..`: the left spine in a loop, since sums may be long.
    fn arithmetic(&mut self, expr: &CExpr) -> Result<Expr> {
        let mut links = Vec::new();
        let mut at = expr;
        while let CKind::Binary(operator, left, right) = &at.kind {
            // An integer part stays one, and so does a value of indices. All parts of a macro have one place.
            let whole = !std::ptr::eq(at, expr) && {
                let depends = self.depends(at);
                self.kind_of(at)?.is_integer()
                    || (!depends.data && depends.bare && !(depends.time && depends.place))
            };
            if whole {
                break;
            }
            let operator = match operator {
                COperator::Add => BinaryOp::Add,
                COperator::Sub => BinaryOp::Sub,
                COperator::Mul => BinaryOp::Mul,
                COperator::Div => BinaryOp::Div,
                other => {
                    let message = format!("`{}` of floating-point numbers", other.text());
                    return limitation(codes::EXPRESSION, &at.span, message);
                }
            };
            links.push((operator, right, at));
            at = left;
        }
        let mut kind = self.kind_of(at)?;
        let mut result: Option<Expr> = None;
        for (operator, right, whole) in links.into_iter().rev() {
            let common = kind.common(self.kind_of(right)?);
            let Kind::Floating(floating) = common else {
                return self.integer_value(whole, ElementType::F64);
            };
            let Some(element) = element_of(floating) else {
                return limitation(
                    codes::TYPE,
                    &whole.span,
                    "long double is not supported; float and double are",
                );
            };
            let left = match result.take() {
                Some(left) => cast(left, element),
                None => self.converted(at, element)?,
            };
            let right = self.converted(right, element)?;
            let kind_of_node = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            result = Some(Expr { kind: kind_of_node, element, span: whole.span.clone() });
            kind = common;
            self.count(&whole.span)?;
        }
        match result {
            Some(result) => Ok(result),
            None => limitation(codes::EXPRESSION, &expr.span, "this operation is not supported in a stencil"),
        }
    }

    fn call(&mut self, function: &CExpr, arguments: &[CExpr], span: &Span) -> Result<Expr> {
        let CKind::Name(name) = &function.kind else {
            return limitation(codes::CALL, span, "a call through a pointer");
        };
        let Some((math, kind)) = math_function(name).filter(|_| !self.is_own(name)) else {
            return self.not_a_function(name, span);
        };
        let element = element_of(kind).unwrap_or(ElementType::F64);
        match (math, arguments) {
            (Math::One(function), [argument]) => {
                let argument = self.converted(argument, element)?;
                return Ok(Expr {
                    kind: ExprKind::Call(function, Box::new(argument)),
                    element,
                    span: span.clone(),
                });
            }
            (Math::Two(function), [left, right]) => {
                let (left, right) = (self.converted(left, element)?, self.converted(right, element)?);
                if function == Libm2::Pow {
                    return Ok(Expr::power(left, right, span.clone()));
                }
                let kind = ExprKind::Binary(BinaryOp::Libm(function), Box::new(left), Box::new(right));
                return Ok(Expr { kind, element, span: span.clone() });
            }
            _ => {}
        }
        error(codes::CALL, span, format!("`{name}` called with {} arguments", arguments.len()))
    }
}
