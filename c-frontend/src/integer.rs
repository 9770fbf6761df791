//! The types of integers: C computes them modulo a power of two where they are unsigned, and converts them to
//! narrower types by leaving bits out. Constants are folded only where the result is what C has.

use crate::ast::{BinaryOp, CType, Expr, ExprKind, UnaryOp};

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntType {
    /// Number of bits; 1 for `_Bool`.
    pub bits: u32,
    /// Whether it cannot be negative.
    pub unsigned: bool,
}

impl IntType {
    pub const INT: IntType = IntType { bits: 32, unsigned: false };
    pub const SIZE: IntType = IntType { bits: 64, unsigned: true };

    /// The type with this name, as on machines with 64 bits.
    pub fn named(name: &str, unsigned: bool) -> IntType {
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let bits = match () {
            () if has(&["bool", "Bool"]) => 1,
            () if has(&["char", "int8_t", "least8_t"]) => 8,
            () if has(&["short", "int16_t", "least16_t"]) => 16,
            () if has(&["int32_t", "least32_t"]) => 32,
            () if has(&["long", "64", "size", "ptr", "max", "off_t", "fast"]) => 64,
            () => 32,
        };
        IntType { bits, unsigned }
    }

    pub fn of(ctype: &CType) -> Option<IntType> {
        match ctype {
            CType::Integer { name, unsigned } => Some(IntType::named(name, *unsigned)),
            _ => None,
        }
    }

    /// What an operand of this type is computed in.
    pub fn promoted(self) -> IntType {
        if self.bits < 32 { IntType::INT } else { self }
    }

    /// The type in which two operands are combined.
    pub fn common(self, other: IntType) -> IntType {
        let (a, b) = (self.promoted(), other.promoted());
        let bits = a.bits.max(b.bits);
        IntType { bits, unsigned: [a, b].iter().any(|one| one.unsigned && one.bits == bits) }
    }

    /// Whether a value is one of this type.
    pub fn has(self, value: i128) -> bool {
        let (low, high) = match self.unsigned {
            true => (0, 1_i128 << self.bits),
            false => (-(1_i128 << (self.bits - 1)), 1_i128 << (self.bits - 1)),
        };
        (low..high).contains(&value)
    }

    /// A result in this type: taken modulo a power of two if unsigned; `None` where a signed one overflows.
    fn result(self, value: i128) -> Option<i128> {
        match self.unsigned {
            true => Some(value.rem_euclid(1 << self.bits)),
            false => Some(value).filter(|value| self.has(*value)),
        }
    }

    /// A value converted to a named type; `None` where that depends on the machine.
    fn converted(self, value: i128, name: &str) -> Option<i128> {
        match self.bits {
            1 => Some(i128::from(value != 0)),
            // Whether a plain `char` has a sign differs.
            8 if name == "char" => Some(value).filter(|value| (0..128).contains(value)),
            _ if self.unsigned || self.has(value) => self.result(value),
            bits => {
                let low = value.rem_euclid(1 << bits);
                Some(if low >= 1 << (bits - 1) { low - (1 << bits) } else { low })
            }
        }
    }
}

/// The type of a literal: the first that holds it, of those that its base and its suffix allow.
pub(crate) fn literal_type(value: i64, text: &str) -> IntType {
    let lower = text.trim_matches(['(', ')']).to_ascii_lowercase();
    let suffix = &lower[lower.trim_end_matches(['u', 'l']).len()..];
    let decimal = !lower.starts_with('0') || lower.len() == suffix.len() + 1;
    let (unsigned, long) = (suffix.contains('u'), suffix.contains('l'));
    let int = IntType { bits: 32, unsigned };
    match () {
        () if !long && int.has(value.into()) => int,
        () if !long && !unsigned && !decimal && (IntType { unsigned: true, ..int }).has(value.into()) => {
            IntType { unsigned: true, ..int }
        }
        () => IntType { bits: 64, unsigned },
    }
}

/// Integers up to this magnitude are exact in `double`.
pub(crate) const EXACT_IN_DOUBLE: i128 = 1 << 53;

/// The value and the type of an integer expression of literals; `None` if it is none, or has no value in C.
pub(crate) fn constant(expr: &Expr) -> Option<(i128, IntType)> {
    let int = |truth: bool| Some((i128::from(truth), IntType::INT));
    match &expr.kind {
        ExprKind::Integer { value, text } => Some(((*value).into(), literal_type(*value, text))),
        ExprKind::Unary(operator, operand) => {
            let (value, own) = constant(operand)?;
            let own = own.promoted();
            let value = match operator {
                UnaryOp::Plus => value,
                UnaryOp::Minus => own.result(-value)?,
                UnaryOp::Complement => own.result(-1 - value)?,
                UnaryOp::Not => return int(value == 0),
                UnaryOp::Dereference | UnaryOp::Address => return None,
            };
            Some((value, own))
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            let truth = constant(condition)?.0 != 0;
            let (a, b) = (constant(then)?, constant(otherwise)?);
            let common = a.1.common(b.1);
            Some((common.result(if truth { a.0 } else { b.0 })?, common))
        }
        ExprKind::Cast(CType::Integer { name, unsigned }, operand) => {
            let own = IntType::named(name, *unsigned);
            if let ExprKind::Floating { text, .. } = &operand.kind {
                // Towards zero; C says nothing of values that the type does not have.
                let value = text.parse::<f64>().ok()?.trunc();
                let short = own.bits >= 16 && value.abs() < EXACT_IN_DOUBLE as f64;
                return Some((value as i128, own)).filter(|(value, _)| short && own.has(*value));
            }
            Some((own.converted(constant(operand)?.0, name)?, own))
        }
        ExprKind::Binary(operator, left, right) => {
            use BinaryOp::*;
            let (a, b) = (constant(left)?, constant(right)?);
            if matches!(operator, And | Or) {
                return int(if *operator == And { a.0 != 0 && b.0 != 0 } else { a.0 != 0 || b.0 != 0 });
            }
            if matches!(operator, Shl | Shr) {
                let own = a.1.promoted();
                let by = u32::try_from(b.0).ok().filter(|by| *by < own.bits)?;
                if a.0 < 0 {
                    return None;
                }
                return Some((own.result(if *operator == Shl { a.0 << by } else { a.0 >> by })?, own));
            }
            let common = a.1.common(b.1);
            let (x, y) = (common.result(a.0)?, common.result(b.0)?);
            let value = match operator {
                Add => x + y,
                Sub => x - y,
                Mul => x.checked_mul(y)?,
                Div => x.checked_div(y)?,
                Rem => x.checked_rem(y)?,
                BitAnd => x & y,
                BitOr => x | y,
                BitXor => x ^ y,
                Less => return int(x < y),
                LessEqual => return int(x <= y),
                Greater => return int(x > y),
                GreaterEqual => return int(x >= y),
                Equal => return int(x == y),
                NotEqual => return int(x != y),
                And | Or | Shl | Shr => return None,
            };
            Some((common.result(value)?, common))
        }
        _ => None,
    }
}

/// Whether an integer type's name says that it is unsigned.
pub(crate) fn is_unsigned(name: &str) -> bool {
    name.contains("unsigned") || name.starts_with('u') || matches!(name, "size_t" | "bool" | "_Bool")
}

/// The value of an integer expression of literals.
pub(crate) fn literal(expr: &Expr) -> Option<i64> {
    constant(expr).and_then(|(value, _)| value.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Floating;

    fn number(value: i64, text: &str) -> Box<Expr> {
        Box::new(Expr { kind: ExprKind::Integer { value, text: text.to_owned() }, span: 0..0 })
    }

    fn binary(operator: BinaryOp, left: Box<Expr>, right: Box<Expr>) -> Box<Expr> {
        Box::new(Expr { kind: ExprKind::Binary(operator, left, right), span: 0..0 })
    }

    fn cast(name: &str, operand: Box<Expr>) -> Box<Expr> {
        let ctype = CType::Integer { name: name.to_owned(), unsigned: is_unsigned(name) };
        Box::new(Expr { kind: ExprKind::Cast(ctype, operand), span: 0..0 })
    }

    #[test]
    fn constants_are_those_of_c() {
        let value = |expr: Box<Expr>| constant(&expr).map(|(value, _)| value);
        assert_eq!(value(binary(BinaryOp::Sub, number(1, "1u"), number(2, "2"))), Some(4_294_967_295));
        assert_eq!(value(binary(BinaryOp::Sub, number(1, "1"), number(2, "2"))), Some(-1));
        assert_eq!(value(binary(BinaryOp::Add, number(0xffff_ffff, "0xffffffff"), number(1, "1"))), Some(0));
        let decimal = number(4_294_967_295, "4294967295");
        assert_eq!(value(binary(BinaryOp::Add, decimal, number(1, "1"))), Some(1 << 32));
        assert_eq!(value(binary(BinaryOp::Add, number(0x7fff_ffff, "0x7fffffff"), number(1, "1"))), None);
        assert_eq!(value(binary(BinaryOp::Less, number(-1, "-1"), number(1, "1u"))), Some(0));
        assert_eq!(value(binary(BinaryOp::Shl, number(1, "1"), number(31, "31"))), None);
        assert_eq!(value(binary(BinaryOp::Div, number(-7, "-7"), number(2, "2"))), Some(-3));
        assert_eq!(value(binary(BinaryOp::Rem, number(-7, "-7"), number(2, "2"))), Some(-1));
        assert_eq!(value(binary(BinaryOp::Div, number(1, "1"), number(0, "0"))), None);
        assert_eq!(value(cast("unsigned char", number(300, "300"))), Some(44));
        assert_eq!(value(cast("signed char", number(200, "200"))), Some(-56));
        assert_eq!(value(cast("char", number(200, "200"))), None);
        assert_eq!(value(cast("_Bool", number(5, "5"))), Some(1));
        assert_eq!(value(cast("int", number(4_294_967_300, "4294967300L"))), Some(4));
    }

    #[test]
    fn floating_literals_are_cut_towards_zero() {
        let whole = |text: &str, name: &str| {
            let kind = ExprKind::Floating { text: text.to_owned(), kind: Floating::Double };
            let ctype = CType::Integer { name: name.to_owned(), unsigned: is_unsigned(name) };
            literal(&Expr { kind: ExprKind::Cast(ctype, Box::new(Expr { kind, span: 0..0 })), span: 0..0 })
        };
        assert_eq!(
            [whole("100.", "int"), whole("7.9", "long"), whole("3e9", "int")],
            [Some(100), Some(7), None]
        );
        assert_eq!(
            [whole("-0.5", "int"), whole("300.", "char"), whole("0.5", "bool")],
            [Some(0), None, None]
        );
    }

    #[test]
    fn types_have_widths() {
        let named = |name: &str| (IntType::named(name, is_unsigned(name)).bits, is_unsigned(name));
        assert_eq!(
            [named("int"), named("unsigned long"), named("size_t")],
            [(32, false), (64, true), (64, true)]
        );
        assert_eq!([named("uint8_t"), named("short"), named("bool")], [(8, true), (16, false), (1, true)]);
        assert_eq!(
            [named("int32_t"), named("ptrdiff_t"), named("uint")],
            [(32, false), (64, false), (32, true)]
        );
    }
}
