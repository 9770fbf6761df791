//! Operations on integers of the data, with the range of each result.

use super::ranged::{DOUBLE, Whole, element_for, floor_of, literal, modulo, range, without_sign};
use crate::ast::{BinaryOp as COperator, Expr as CExpr};
use crate::codes;
use crate::integer;
use crate::nest::refusal::{Result, limitation};
use crate::nest::typed::cast;
use crate::nest::walker::Walker;
use crate::polynomial::Polynomial;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::math::Libm;
use polyhedral::program::{BinaryOp, ElementType, Expr, ExprKind, Function};
use polyhedral::source::Span;

impl Walker<'_> {
    pub(super) fn whole_operation(
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
    pub(super) fn combined(&mut self, operator: BinaryOp, a: Whole, b: Whole, span: &Span) -> Result<Whole> {
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
        // 0 times something negative is -0.
        let signed = |zero: &Whole, by: &Whole| zero.low <= 0 && zero.high >= 0 && by.low < 0;
        let signed = operator == BinaryOp::Mul && (signed(&a, &b) || signed(&b, &a));
        let kind =
            ExprKind::Binary(operator, Box::new(cast(a.value, element)), Box::new(cast(b.value, element)));
        let value = Expr { kind, element, span: span.clone() };
        Ok(Whole { value: if signed { without_sign(value) } else { value }, own: common, low, high })
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
            let positive = a.low >= 0 && b.low > 0;
            let (value, low) = if positive { (quotient, 0) } else { (without_sign(quotient), -most) };
            return Ok(Whole { value, own: common, low, high: most });
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
}
