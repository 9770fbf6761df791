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
//! The range of every value is known. Where it leaves the type, an unsigned value is settled before something asks for the
//! number itself (a comparison, a quotient, a conversion), and any value before it is stored.

use super::refusal::{Result, error, limitation};
use super::scalars::Held;
use super::typed::{cast, number};
use super::walker::Walker;
use crate::ast::{BinaryOp as COperator, CType, Expr as CExpr, ExprKind as CKind, UnaryOp};
use crate::codes;
use crate::integer::{self, IntType};
use crate::polynomial::Polynomial;
use crate::text::type_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::math::Libm;
use polyhedral::program::{BinaryOp, CompareOp, Condition, ElementType, Expr, ExprKind, Function, LocalId};
use polyhedral::source::Span;

/// Integers up to this magnitude are exact in `float`.
const SINGLE: i128 = 1 << 24;
/// And in `double`.
const DOUBLE: i128 = 1 << 53;

/// An integer of the data.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    pub value: Expr,
    pub own: IntType,
    pub low: i128,
    pub high: i128,
}

impl Whole {
    fn magnitude(&self) -> i128 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether the range lies within the type.
    fn fits(&self, own: IntType) -> bool {
        own.has(self.low) && own.has(self.high)
    }
}

/// Least and greatest value of a type.
fn range(own: IntType) -> (i128, i128) {
    match own.unsigned {
        true => (0, (1 << own.bits) - 1),
        false => (-(1 << (own.bits - 1)), (1 << (own.bits - 1)) - 1),
    }
}

/// The least floating-point type that has all integers up to a magnitude.
fn element_for(magnitude: i128) -> ElementType {
    if magnitude <= SINGLE { ElementType::F32 } else { ElementType::F64 }
}

/// The type of the field that holds an array of integers; `None` where none holds them all.
pub(super) fn element_of_integers(own: IntType) -> Option<ElementType> {
    (own.bits <= 32).then(|| element_for(range(own).1))
}

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
                let (low, high) = range(own);
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
                    let argument = self.whole(argument)?;
                    let argument = self.in_type(argument, IntType::INT);
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
        let value = self.whole_stored(value, ctype)?;
        let own = value.own;
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
        let (base, _) = super::element::subscripts(expr);
        let found = IntType::of(ctype).and_then(|own| Some((own, element_of_integers(own)?)));
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

    fn whole_operation(
        &mut self,
        operator: COperator,
        a: Whole,
        b: Whole,
        right: &CExpr,
        span: &Span,
    ) -> Result<Whole> {
        let by = integer::literal(right).or_else(|| self.known(right)).map(i128::from);
        match operator {
            COperator::Add => self.combined(BinaryOp::Add, a, b, span),
            COperator::Sub => self.combined(BinaryOp::Sub, a, b, span),
            COperator::Mul => self.combined(BinaryOp::Mul, a, b, span),
            COperator::Div | COperator::Rem => self.divided(operator == COperator::Rem, a, b, right, span),
            COperator::Shl | COperator::Shr => {
                let own = a.own.promoted();
                let a = self.in_type(a, own);
                let Some(by) = by.filter(|by| (0..i128::from(own.bits)).contains(by)) else {
                    return limitation(
                        codes::EXPRESSION,
                        span,
                        "integers of the data are shifted by numbers only",
                    );
                };
                let power = literal(1 << by, own, span);
                match operator {
                    COperator::Shl => self.combined(BinaryOp::Mul, a, power, span),
                    _ => {
                        let a = self.settled(a);
                        Ok(floor_of(a, power, span))
                    }
                }
            }
            COperator::BitAnd | COperator::BitOr | COperator::BitXor => self.bits(operator, a, b, by, span),
            // Comparisons are conditions.
            _ => limitation(codes::EXPRESSION, span, "this operation on integers is not supported"),
        }
    }

    /// Sums, differences and products, which are exact modulo any power of two.
    fn combined(&mut self, operator: BinaryOp, a: Whole, b: Whole, span: &Span) -> Result<Whole> {
        let common = a.own.common(b.own);
        let (mut a, mut b) = (self.in_type(a, common), self.in_type(b, common));
        let bounds = |a: &Whole, b: &Whole| match operator {
            BinaryOp::Add => (a.low + b.low, a.high + b.high),
            BinaryOp::Sub => (a.low - b.high, a.high - b.low),
            _ => {
                let all = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
                (all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0))
            }
        };
        let large = |(low, high): (i128, i128)| low.abs().max(high.abs()) > DOUBLE;
        if large(bounds(&a, &b)) {
            (a, b) = (self.settled(a), self.settled(b));
        }
        let (mut low, mut high) = bounds(&a, &b);
        if large((low, high)) {
            if common.unsigned || common.bits > 32 {
                let message = "a result of integers of the data that may have more than 53 bits";
                return Err(Box::new(
                    Diagnostic::limitation(codes::TYPE, span.clone(), message)
                        .note("integers are computed in double precision, which has 53 bits"),
                ));
            }
            // A product that does not fit into an int is none in C.
            (low, high) = range(common);
        }
        let element = element_for(a.magnitude().max(b.magnitude()).max(low.abs()).max(high.abs()));
        let kind =
            ExprKind::Binary(operator, Box::new(cast(a.value, element)), Box::new(cast(b.value, element)));
        Ok(Whole { value: Expr { kind, element, span: span.clone() }, own: common, low, high })
    }

    /// `trunc(a / b)`, or `a - b trunc(a / b)`: exact, since `a / b` is rounded to an integer only where it is one.
    fn divided(&mut self, rest: bool, a: Whole, b: Whole, right: &CExpr, span: &Span) -> Result<Whole> {
        let common = a.own.common(b.own);
        let (a, b) = (self.in_type(a, common), self.in_type(b, common));
        let (mut a, mut b) = (self.settled(a), self.settled(b));
        if b.low <= 0 && b.high >= 0 {
            let depends = self.depends(right);
            let constant = if depends.is_constant() { self.polynomial(right) } else { None };
            let Some(divisor) = constant else {
                return Err(Box::new(
                    Diagnostic::limitation(codes::EXPRESSION, right.span.clone(), "integers are divided by this, which may be 0")
                        .note("C leaves open what a division of integers by 0 does; tiled loops would not stop there")
                        .hint("divide by a number, or by a variable that the time loop leaves alone"),
                ));
            };
            // Seen at run time.
            self.assumed.borrow_mut().push((Polynomial::number(1), divisor));
            b.low = 1;
        }
        let element = element_for(a.magnitude().max(b.magnitude()));
        if rest {
            a.value = self.shared(cast(a.value, element), span);
            b.value = self.shared(cast(b.value, element), span);
        }
        let made = |kind| Expr { kind, element, span: span.clone() };
        let (x, y) = (cast(a.value.clone(), element), cast(b.value.clone(), element));
        let quotient = made(ExprKind::Binary(BinaryOp::Div, Box::new(x.clone()), Box::new(y.clone())));
        let quotient = made(ExprKind::Call(Function::Libm(Libm::Trunc), Box::new(quotient)));
        if !rest {
            let most = a.magnitude() / b.low.abs().min(b.high.abs()).max(1);
            let low = if a.low >= 0 && b.low > 0 { 0 } else { -most };
            return Ok(Whole { value: quotient, own: common, low, high: most });
        }
        let most = (b.magnitude() - 1).min(a.magnitude());
        let product = made(ExprKind::Binary(BinaryOp::Mul, Box::new(y), Box::new(quotient)));
        let value = made(ExprKind::Binary(BinaryOp::Sub, Box::new(x), Box::new(product)));
        let (low, high) = (if a.low >= 0 { 0 } else { -most }, if a.high <= 0 { 0 } else { most });
        Ok(Whole { value, own: common, low, high })
    }

    /// Bits that a mask of neighbouring ones leaves, and operations on single bits.
    fn bits(
        &mut self,
        operator: COperator,
        a: Whole,
        b: Whole,
        by: Option<i128>,
        span: &Span,
    ) -> Result<Whole> {
        let common = a.own.common(b.own);
        let single = |one: &Whole| one.low >= 0 && one.high <= 1;
        if single(&a) && single(&b) {
            let (a, b) = (self.in_type(a, common), self.in_type(b, common));
            let element = ElementType::F32;
            let (x, y) = (cast(a.value, element), cast(b.value, element));
            let made = |kind| Expr { kind, element, span: span.clone() };
            let value = match operator {
                COperator::BitAnd => made(ExprKind::Binary(BinaryOp::Mul, Box::new(x), Box::new(y))),
                COperator::BitOr => made(ExprKind::Binary(BinaryOp::Max, Box::new(x), Box::new(y))),
                // |x - y|
                _ => {
                    let by = made(ExprKind::Binary(BinaryOp::Sub, Box::new(x), Box::new(y)));
                    made(ExprKind::Call(Function::Abs, Box::new(by)))
                }
            };
            return Ok(Whole { value, own: common, low: 0, high: 1 });
        }
        // Ones from bit `first` to bit `last - 1`.
        let mask = by.filter(|mask| operator == COperator::BitAnd && *mask > 0 && common.has(*mask));
        let mask = mask.map(|mask| (mask.trailing_zeros(), 128 - mask.leading_zeros()));
        let neighbours = mask.filter(|(first, last)| by == Some((1_i128 << last) - (1_i128 << first)));
        let Some((first, last)) = neighbours else {
            let message = format!("`{}` of integers of the data", operator.text());
            return Err(Box::new(
                Diagnostic::limitation(codes::EXPRESSION, span.clone(), message).note(
                    "integers are computed in floating point: `&` with a mask of neighbouring ones, shifts by numbers, and \
                     operations on truth values are supported",
                ),
            ));
        };
        // `a mod 2^last - a mod 2^first`
        let mut a = self.in_type(a, common);
        if a.magnitude() > DOUBLE {
            a = self.settled(a);
        }
        a.value = self.shared(a.value, span);
        let all = modulo(a.clone(), last, span);
        let result = match first {
            0 => all,
            _ => {
                let low = modulo(a, first, span);
                let element = element_for(all.magnitude());
                let kind = ExprKind::Binary(
                    BinaryOp::Sub,
                    Box::new(cast(all.value, element)),
                    Box::new(cast(low.value, element)),
                );
                Whole { value: Expr { kind, element, span: span.clone() }, ..all }
            }
        };
        let high = (1_i128 << last) - (1_i128 << first);
        Ok(Whole { own: common, low: 0, high, ..result })
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
        let value = Expr { kind, element, span: span.clone() };
        // What the type does not have is nothing in C; compilers convert by way of int, or of 64 bits.
        let wider = IntType { bits: 64, unsigned: false };
        let (own, (low, high)) = match to == (IntType { bits: 32, unsigned: true }) {
            true => (wider, (-DOUBLE, DOUBLE)),
            false => (IntType::INT, range(IntType::INT)),
        };
        self.converted_whole(Whole { value, own, low, high }, to)
    }

    /// A conversion to another type.
    fn converted_whole(&mut self, value: Whole, to: IntType) -> Result<Whole> {
        let span = value.value.span.clone();
        if to.bits == 1 {
            let value = self.settled(value);
            let zero = number(0.0, value.value.element, &span);
            return Ok(truth_value(Condition::Compare(CompareOp::NotEqual, value.value, zero), &span));
        }
        // A wider type has the number itself.
        let value = if to.bits > value.own.bits { self.settled(value) } else { value };
        if value.fits(to) {
            return Ok(Whole { own: to, ..value });
        }
        if to == value.own && !to.unsigned {
            return Ok(value);
        }
        if to.bits > 32 {
            return wide(&span);
        }
        Ok(self.wrapped(value, to))
    }

    /// A value as one of a type that holds it, or, where it is wider, of an arithmetic conversion.
    fn in_type(&mut self, value: Whole, to: IntType) -> Whole {
        let value = if to.bits > value.own.bits { self.settled(value) } else { value };
        Whole { own: to, ..value }
    }

    /// The number itself: unsigned ones within the type; signed ones are, wherever C defines them.
    fn settled(&mut self, value: Whole) -> Whole {
        if value.fits(value.own) {
            return value;
        }
        if value.own.unsigned {
            let own = value.own;
            return self.wrapped(value, own);
        }
        let (low, high) = range(value.own);
        Whole { low: value.low.max(low), high: value.high.min(high), ..value }
    }

    /// The number of a type that is the value modulo a power of two.
    fn wrapped(&mut self, mut value: Whole, to: IntType) -> Whole {
        let span = value.value.span.clone();
        value.value = self.shared(value.value, &span);
        if to.unsigned {
            let result = modulo(value, to.bits, &span);
            return Whole { own: to, ..result };
        }
        // `(value + 2^(bits - 1)) mod 2^bits - 2^(bits - 1)`
        let half = 1_i128 << (to.bits - 1);
        let element = element_for(value.magnitude() + half);
        let moved = |value: Expr, by: i128| {
            let by = number(by as f64, element, &span);
            let kind = ExprKind::Binary(BinaryOp::Add, Box::new(cast(value, element)), Box::new(by));
            Expr { kind, element, span: span.clone() }
        };
        let up = moved(value.value, half);
        let up = self.shared(up, &span);
        let up = Whole { value: up, own: to, low: value.low + half, high: value.high + half };
        let rest = modulo(up, to.bits, &span);
        let (low, high) = range(to);
        Whole { value: moved(rest.value, -half), own: to, low, high }
    }
}

/// A number.
fn literal(value: i128, own: IntType, span: &Span) -> Whole {
    Whole { value: number(value as f64, element_for(value.abs()), span), own, low: value, high: value }
}

/// 1 where a condition holds, else 0.
fn truth_value(condition: Condition, span: &Span) -> Whole {
    let (one, zero) = (literal(1, IntType::INT, span), literal(0, IntType::INT, span));
    chosen(condition, one, zero, span)
}

fn chosen(truth: Condition, then: Whole, otherwise: Whole, span: &Span) -> Whole {
    let element = element_for(then.magnitude().max(otherwise.magnitude()));
    let own = then.own;
    let (low, high) = (then.low.min(otherwise.low), then.high.max(otherwise.high));
    let (a, b) = (cast(then.value, element), cast(otherwise.value, element));
    let kind = ExprKind::Select(Box::new(truth), Box::new(a), Box::new(b));
    Whole { value: Expr { kind, element, span: span.clone() }, own, low, high }
}

/// `floor(a / power)`, which is exact for powers of two.
fn floor_of(a: Whole, power: Whole, span: &Span) -> Whole {
    let element = element_for(a.magnitude().max(power.high));
    let made = |kind| Expr { kind, element, span: span.clone() };
    let (x, y) = (cast(a.value, element), cast(power.value, element));
    let quotient = made(ExprKind::Binary(BinaryOp::Div, Box::new(x), Box::new(y)));
    let value = made(ExprKind::Call(Function::Libm(Libm::Floor), Box::new(quotient)));
    let (low, high) = (a.low.div_euclid(power.high), a.high.div_euclid(power.high));
    Whole { value, own: a.own, low, high }
}

/// `a - 2^bits floor(a / 2^bits)`, of a value that is cheap to use twice.
fn modulo(a: Whole, bits: u32, span: &Span) -> Whole {
    let power = literal(1 << bits, a.own, span);
    let own = a.own;
    if a.low >= 0 && a.high < power.high {
        return a;
    }
    let element = element_for(a.magnitude().max(power.high));
    let made = |kind| Expr { kind, element, span: span.clone() };
    let whole = floor_of(a.clone(), power.clone(), span);
    let product = made(ExprKind::Binary(
        BinaryOp::Mul,
        Box::new(cast(power.value, element)),
        Box::new(cast(whole.value, element)),
    ));
    let value = made(ExprKind::Binary(BinaryOp::Sub, Box::new(cast(a.value, element)), Box::new(product)));
    Whole { value, own, low: 0, high: (1 << bits) - 1 }
}

fn wide<T>(span: &Span) -> Result<T> {
    Err(Box::new(
        Diagnostic::limitation(codes::TYPE, span.clone(), "an integer of 64 bits meets integers of the data")
            .note("integers of up to 32 bits are computed in floating point, exactly; those of 64 bits do not fit"),
    ))
}
