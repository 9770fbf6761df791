//! In which types C computes the integers of a region, and whether they stand for the numbers that they seem to.

use super::classify::question;
use super::math::END;
use super::walker::Walker;
use crate::ast::{BinaryOp, CType, Expr, ExprKind, UnaryOp};
use crate::integer::{IntType, constant, is_unsigned, literal_type};

impl Walker<'_> {
    /// The type in which C computes an integer expression; `None` if it is none, or not known.
    pub(super) fn int_type(&self, expr: &Expr) -> Option<IntType> {
        use BinaryOp::*;
        match &expr.kind {
            ExprKind::Integer { value, text } => Some(literal_type(*value, text)),
            ExprKind::Turn { .. } => Some(IntType::INT),
            ExprKind::Name(name) => {
                if self.environment.get(name).is_some() {
                    return IntType::of(self.integer_ctype(name)?);
                }
                if let Some(at) = self.open_loop(name) {
                    let own = &self.nest.loops[at].type_name;
                    return Some(IntType::named(own, is_unsigned(own)));
                }
                if *name == self.nest.time.name {
                    let own = &self.nest.time.type_name;
                    return Some(IntType::named(own, is_unsigned(own)));
                }
                IntType::of(&self.region.variables.get(name)?.ctype)
            }
            ExprKind::Index(..) | ExprKind::Member(..) | ExprKind::Unary(UnaryOp::Dereference, _) => {
                IntType::of(self.member_type(expr)?)
            }
            ExprKind::Call(function, _) => match &function.kind {
                ExprKind::Name(name) if name == "abs" || question(name).is_some() => Some(IntType::INT),
                ExprKind::Name(name) if name == "labs" => Some(IntType { bits: 64, unsigned: false }),
                _ => None,
            },
            ExprKind::Unary(UnaryOp::Not, _) => Some(IntType::INT),
            ExprKind::Unary(_, operand) => Some(self.int_type(operand)?.promoted()),
            ExprKind::Binary(Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or, ..) => {
                Some(IntType::INT)
            }
            ExprKind::Binary(Shl | Shr, left, _) => Some(self.int_type(left)?.promoted()),
            ExprKind::Binary(_, left, right) => {
                // Long sums lean to the left.
                let mut common = self.int_type(right)?;
                let mut at = left;
                while let ExprKind::Binary(Add | Sub | Mul | Div, left, right) = &at.kind {
                    common = common.common(self.int_type(right)?);
                    at = left;
                }
                Some(common.common(self.int_type(at)?))
            }
            ExprKind::Cast(ctype, _) => IntType::of(ctype),
            ExprKind::Conditional(_, then, otherwise) => {
                Some(self.int_type(then)?.common(self.int_type(otherwise)?))
            }
            ExprKind::Other(kind, _) if kind == "sizeof expression" => Some(IntType::SIZE),
            ExprKind::Other(kind, _) if kind == END => Some(IntType::INT),
            _ => None,
        }
    }

    /// The type of an integer variable that the loop assigns.
    pub(super) fn integer_ctype(&self, name: &str) -> Option<&CType> {
        self.environment
            .ctype(name)
            .or_else(|| self.region.variables.get(name).map(|variable| &variable.ctype))
            .filter(|ctype| matches!(ctype, CType::Integer { .. }))
    }

    /// A value as an integer variable of the loop holds it: converted to the variable's type.
    pub(super) fn held_integer(&self, name: &str, value: Expr) -> Expr {
        let Some(ctype) = self.integer_ctype(name) else { return value };
        if self.int_type(&value).is_some_and(|own| IntType::of(ctype) == Some(own) && own.bits >= 32) {
            return value;
        }
        let span = value.span.clone();
        Expr { kind: ExprKind::Cast(ctype.clone(), Box::new(value)), span }
    }

    /// Whether a conversion to an integer type leaves the value as it is. Indices and the time are taken to fit
    /// into 32 bits, as the arrays do.
    pub(super) fn keeps_value(&self, ctype: &CType, operand: &Expr) -> bool {
        let Some(to) = IntType::of(ctype) else { return false };
        let from = self.int_type(operand);
        let depends = self.depends(operand);
        to.bits >= 32 && (depends.time || depends.place || from.is_some_and(|from| to.bits >= from.bits))
    }

    /// Whether `index < limit` is decided on unsigned numbers although the index may be negative.
    pub(super) fn wraps(&self, index: IntType, first: &Expr, limit: &Expr) -> bool {
        let Some(limit) = self.int_type(limit) else { return false };
        let known = constant(first)
            .map(|(value, _)| value)
            .or_else(|| self.polynomial(first)?.constant().map(i128::from));
        index.common(limit).unsigned && !index.promoted().unsigned && known.is_none_or(|first| first < 0)
    }

    /// Whether a comparison of two integers is one of the numbers that they stand for: neither becomes unsigned,
    /// and neither is the result of an operation that could have wrapped.
    pub(super) fn compares_signed(&self, left: &Expr, right: &Expr) -> bool {
        let (Some(a), Some(b)) = (self.int_type(left), self.int_type(right)) else { return false };
        let plain = |expr: &Expr, own: IntType| {
            !own.promoted().unsigned
                || matches!(expr.kind, ExprKind::Name(_) | ExprKind::Integer { .. })
                || self.depends(expr).is_constant()
        };
        let positive = |expr: &Expr, own: IntType| {
            let index = match &expr.kind {
                ExprKind::Name(name) => {
                    self.open_loop(name).and_then(|at| self.nest.loops[at].low.constant())
                }
                _ => None,
            };
            own.unsigned || self.depends(expr).is_constant() || index.is_some_and(|low| low >= 0)
        };
        plain(left, a)
            && plain(right, b)
            && (!a.common(b).unsigned || (positive(left, a) && positive(right, b)))
    }
}
