//! Integers of the data: computed in floating point, exactly.
//!
//! Every integer of up to 32 bits is a `double`, and every one of up to 24 bits a `float`. So an array of integers is a field
//! of such numbers, and sums, differences, products, truncated quotients and conversions of them are operations that
//! programs have, each of which is exact as long as its result has at most 53 bits (24 in `float`). A value stands for the
//! integer that C has in the same place:
//!
//! ```text
//! unsigned of b bits:  value = C's integer (mod 2^b);   settled:  value - 2^b floor(value / 2^b)
//! signed:              value = C's integer, wherever C defines one (no overflow)
//! ```
//!
//! Integers have one zero: what may become -0 (quotients, products, what is cut) has 0 added to it, which makes it 0.
//!
//! The range of every value is known. Where it leaves the type, an unsigned value is settled before something asks for the
//! number itself (a comparison, a quotient, a conversion), and any value before it is stored.

mod convert;
mod operate;
mod ranged;

use crate::ast::{BinaryOp as COperator, CType, Expr as CExpr, ExprKind as CKind, UnaryOp};
use crate::codes;
use crate::integer::{self, IntType};
use crate::nest::refusal::{Result, error, limitation};
use crate::nest::scalars::Held;
use crate::nest::typed::{cast, number};
use crate::nest::walker::Walker;
use crate::text::type_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::math::Libm;
use polyhedral::program::{BinaryOp, CompareOp, Condition, ElementType, Expr, ExprKind, Function, LocalId};
use polyhedral::source::Span;
use ranged::{
    DOUBLE, Whole, chosen, element_for, element_of_integers, literal, range, truth_value, wide, without_sign,
};

impl Walker<'_> {
    /// An integer, whatever it depends on.
    pub(super) fn whole(&mut self, expr: &CExpr) -> Result<Whole> {
        self.count(&expr.span)?;
        let span = &expr.span;
        let exact = integer::constant(expr)
            .or_else(|| Some((i128::from(self.known(expr)?), self.int_type(expr)?)))
            .filter(|(value, _)| value.abs() <= DOUBLE);
        if let Some((value, own)) = exact {
            return Ok(literal(value, own, span));
        }
        let depends = self.depends(expr);
        if !(depends.data || depends.time && depends.place) {
            return self.whole_outside(expr);
        }
        if self.is_condition(expr) {
            let condition = self.condition(expr)?;
            return Ok(truth_value(condition, span));
        }
        match &expr.kind {
            CKind::Name(name) => match self.environment.get(name).cloned() {
                Some(held @ Held::Whole { .. }) => self.whole_of(&held, span),
                Some(Held::Nothing(_)) => {
                    error(codes::EXPRESSION, span, format!("`{name}` is used before it has a value"))
                }
                Some(Held::Carried(_, place)) => self.carried(name, place, span),
                Some(Held::Integer(_, value)) => self.whole(&value),
                _ => self.changes_with_steps(name, span),
            },
            CKind::Index(..) | CKind::Unary(UnaryOp::Dereference, _) => {
                let Some(ctype) = self.member_type(expr).cloned() else {
                    return limitation(codes::ARRAY, span, "an array that is not a variable of its own");
                };
                let (own, element) = self.integers_of(expr, &ctype)?;
                let value = self.element_value(expr, depends, element)?;
                let (low, high) = self.range_in_arrays(own);
                Ok(Whole { value, own, low, high })
            }
            CKind::Unary(UnaryOp::Plus, operand) => {
                let operand = self.whole(operand)?;
                Ok(self.in_type(operand.clone(), operand.own.promoted()))
            }
            CKind::Unary(UnaryOp::Minus, operand) => {
                let operand = self.whole(operand)?;
                let zero = literal(0, IntType::INT, span);
                self.combined(BinaryOp::Sub, zero, operand, span)
            }
            CKind::Unary(UnaryOp::Complement, operand) => {
                let operand = self.whole(operand)?;
                let less = literal(-1, IntType::INT, span);
                self.combined(BinaryOp::Sub, less, operand, span)
            }
            CKind::Binary(operator, left, right) => {
                let (left, right_value) = (self.whole(left)?, self.whole(right)?);
                self.whole_operation(*operator, left, right_value, right, span)
            }
            CKind::Cast(ctype, operand) => match IntType::of(ctype) {
                Some(to) => self.whole_cast(operand, to, span),
                None => limitation(codes::TYPE, span, "a conversion of integers to another type"),
            },
            CKind::Conditional(condition, then, otherwise) => {
                let truth = self.condition(condition)?;
                let then = self.under(condition, true, |this| this.whole(then))?;
                let otherwise = self.under(condition, false, |this| this.whole(otherwise))?;
                let common = then.own.common(otherwise.own);
                let (then, otherwise) = (self.in_type(then, common), self.in_type(otherwise, common));
                Ok(chosen(truth, then, otherwise, span))
            }
            CKind::Call(function, arguments) => match (&function.kind, arguments.as_slice()) {
                (CKind::Name(name), [argument]) if name == "abs" && !self.is_own(name) => {
                    let argument = match self.kind_of(argument)?.is_integer() {
                        true => self.whole(argument)?,
                        false => self.whole_cast(argument, IntType::INT, span)?,
                    };
                    // Unsigned numbers that `int` does not have wrap around on the way.
                    let argument = self.converted_whole(argument, IntType::INT)?;
                    let argument = self.settled(argument);
                    let high = argument.magnitude().min(range(IntType::INT).1);
                    let element = argument.value.element;
                    let kind = ExprKind::Call(Function::Abs, Box::new(argument.value));
                    let value = Expr { kind, element, span: span.clone() };
                    Ok(Whole { value, own: IntType::INT, low: 0, high })
                }
                (CKind::Name(name), _) => self.not_a_function(name, span),
                _ => limitation(codes::CALL, span, "a call through a pointer"),
            },
            CKind::Assign(..) | CKind::Step(..) | CKind::Comma(..) => {
                limitation(codes::EXPRESSION, span, "an assignment within a value")
            }
            _ => limitation(codes::TYPE, span, "this integer of the data is not supported"),
        }
    }

    /// A value as an element of an array holds it. Of a sum that overflows, which C leaves open, machines keep the last bits.
    pub(super) fn whole_element(&mut self, value: &CExpr, ctype: &CType) -> Result<Expr> {
        let span = &value.span;
        let value = self.whole_stored(value, ctype)?;
        let own = value.own;
        let (low, high) = self.range_in_arrays(own);
        if self.is_small(own) && (value.low < low || value.high > high) {
            return limitation(codes::TYPE, span, "an integer that may be large");
        }
        Ok(if value.fits(own) { value.value } else { self.wrapped(value, own).value })
    }

    /// The number that C has, in a floating-point type.
    pub(super) fn whole_number(&mut self, expr: &CExpr, element: ElementType) -> Result<Expr> {
        let value = self.whole(expr)?;
        Ok(cast(self.settled(value).value, element))
    }

    /// A value as an integer variable or element holds it.
    pub(super) fn whole_stored(&mut self, value: &CExpr, ctype: &CType) -> Result<Whole> {
        let Some(to) = IntType::of(ctype) else {
            return limitation(codes::TYPE, &value.span, "something other than an integer");
        };
        if self.kind_of(value)?.is_integer() {
            let value = self.whole(value)?;
            self.converted_whole(value, to)
        } else {
            self.whole_cast(value, to, &value.span)
        }
    }

    /// Makes a scalar of the loop of a value.
    pub(super) fn hold(&mut self, name: &str, value: Whole) -> Held {
        let Whole { value, own, low, high } = value;
        let element = value.element;
        Held::Whole { id: self.temporary(name, value), element, own, low, high }
    }

    /// What a scalar holds, as an integer.
    pub(super) fn whole_of(&mut self, held: &Held, span: &Span) -> Result<Whole> {
        match held {
            Held::Whole { id, element, own, low, high } => {
                let value =
                    Expr { kind: ExprKind::Local(LocalId(*id)), element: *element, span: span.clone() };
                Ok(Whole { value, own: *own, low: *low, high: *high })
            }
            Held::Integer(_, expr) => self.whole(&expr.clone()),
            _ => error(codes::EXPRESSION, span, "an integer that has no value yet"),
        }
    }

    /// Of two values of one scalar, the one that a condition chooses.
    pub(super) fn whole_select(
        &mut self,
        truth: &Condition,
        then: Whole,
        otherwise: Whole,
        span: &Span,
    ) -> Whole {
        chosen(truth.clone(), then, otherwise, span)
    }

    /// Two integers of one type, to be compared as numbers.
    pub(super) fn compared_wholes(&mut self, left: &CExpr, right: &CExpr) -> Result<(Expr, Expr)> {
        let (a, b) = (self.whole(left)?, self.whole(right)?);
        let common = a.own.common(b.own);
        let (a, b) = (self.in_type(a, common), self.in_type(b, common));
        let (a, b) = (self.settled(a), self.settled(b));
        let element = element_for(a.magnitude().max(b.magnitude()));
        Ok((cast(a.value, element), cast(b.value, element)))
    }

    /// The type of the elements of an array of integers, and that of the field that holds them.
    pub(super) fn integers_of(&mut self, expr: &CExpr, ctype: &CType) -> Result<(IntType, ElementType)> {
        let (base, _) = crate::nest::element::subscripts(expr);
        let found = IntType::of(ctype).and_then(|own| match self.is_small(own) {
            true => Some((own, ElementType::F32)),
            false => Some((own, element_of_integers(own)?)),
        });
        let CKind::Name(name) = &base.kind else {
            return limitation(codes::ARRAY, &base.span, "an array that is not a variable of its own");
        };
        let Some(found) = found else {
            let message = format!("`{name}` is an array of `{}`, which has 64 bits", type_text(ctype));
            return Err(Box::new(
                Diagnostic::limitation(codes::ARRAY, expr.span.clone(), message)
                    .note("integers of up to 32 bits are computed in floating point, exactly; those of 64 bits do not fit")
                    .hint("use `int`, `unsigned`, `short`, `unsigned char` or `bool` where the values allow"),
            ));
        };
        if self.states.contains(name) {
            self.nest.integers.insert(name.clone(), ctype.clone());
        }
        Ok(found)
    }

    /// Whether integers of a type are known to be small.
    fn is_small(&self, own: IntType) -> bool {
        self.nest.small.is_some() && own.bits == 32
    }

    /// Least and greatest value of the elements of arrays of a type.
    fn range_in_arrays(&self, own: IntType) -> (i128, i128) {
        let (low, high) = range(own);
        match self.nest.small {
            Some(bound) if self.is_small(own) => (low.max(-bound), high.min(bound)),
            _ => (low, high),
        }
    }

    /// An integer that no data enter.
    fn whole_outside(&mut self, expr: &CExpr) -> Result<Whole> {
        let depends = self.depends(expr);
        let Some(own) = self.int_type(expr) else {
            return limitation(codes::TYPE, &expr.span, "an integer whose type is not known");
        };
        let (low, high) = match () {
            () if self.is_condition(expr) => (0, 1),
            () if own.bits <= 32 => range(own),
            // Indices and the time fit into 32 bits, as the arrays do.
            () if (depends.place || depends.time) && self.polynomial(expr).is_some() => range(IntType::INT),
            () => match &expr.kind {
                CKind::Binary(COperator::Rem, _, by) if integer::literal(by).is_some_and(|by| by > 0) => {
                    let most = integer::literal(by).map_or(0, i128::from) - 1;
                    (if own.unsigned { 0 } else { -most }, most)
                }
                _ => return wide(&expr.span),
            },
        };
        let value = self.outside(expr, depends, element_for(low.abs().max(high.abs())))?;
        Ok(Whole { value, own, low, high })
    }

    /// A conversion, of a floating-point number too: towards zero.
    fn whole_cast(&mut self, operand: &CExpr, to: IntType, span: &Span) -> Result<Whole> {
        if self.kind_of(operand)?.is_integer() {
            let value = self.whole(operand)?;
            return self.converted_whole(value, to);
        }
        let value = self.value(operand)?;
        let element = value.element;
        if to.bits == 1 {
            let zero = number(0.0, element, span);
            return Ok(truth_value(Condition::Compare(CompareOp::NotEqual, value, zero), span));
        }
        if to.bits > 32 {
            return wide(span);
        }
        let kind = ExprKind::Call(Function::Libm(Libm::Trunc), Box::new(value));
        let value = without_sign(Expr { kind, element, span: span.clone() });
        // What the type does not have is nothing in C; compilers convert by way of int, or of 64 bits.
        let wider = IntType { bits: 64, unsigned: false };
        let (own, (low, high)) = match to == (IntType { bits: 32, unsigned: true }) {
            true => (wider, (-DOUBLE, DOUBLE)),
            false => (IntType::INT, range(IntType::INT)),
        };
        self.converted_whole(Whole { value, own, low, high }, to)
    }
}
