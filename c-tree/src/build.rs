//! How expressions are made: functions, operators and methods, which fold ([`fold`]).

use crate::expr::{BinaryOp, Expr, Sort, UnaryOp};
use crate::fold;
use crate::types::Type;
use std::ops::{Add, Div, Mul, Neg, Not, Rem, Sub};

/// An integer.
pub fn int(value: i64) -> Expr {
    Expr::Int(value)
}

/// `true` or `false`.
pub fn truth(value: bool) -> Expr {
    Expr::Bool(value)
}

/// A name of which nothing is known.
pub fn name(name: impl Into<String>) -> Expr {
    Expr::Name(name.into(), Sort::Other)
}

/// The name of a signed integer.
pub fn var(name: impl Into<String>) -> Expr {
    Expr::Name(name.into(), Sort::Integer)
}

/// The name of a truth value.
pub fn flag(name: impl Into<String>) -> Expr {
    Expr::Name(name.into(), Sort::Truth)
}

/// A call of a function, of whose result nothing is known.
pub fn call(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::call(function, arguments, Sort::Other)
}

/// `a && b && ..`; `true` where there is none.
pub fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().fold(truth(true), Expr::and)
}

/// `a || b || ..`; `false` where there is none.
pub fn any(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions.into_iter().fold(truth(false), Expr::or)
}

impl Expr {
    /// A `float` that reads back as exactly this value; a quotient by zero where it is not finite.
    pub fn f32(value: f32) -> Expr {
        let literal = |value: f32| Expr::Literal(format!("{value:?}f"));
        Self::floating(f64::from(value), literal(value.abs()), literal(0.0), literal(1.0))
    }

    /// A `double` that reads back as exactly this value; a quotient by zero where it is not finite.
    pub fn f64(value: f64) -> Expr {
        let literal = |value: f64| Expr::Literal(format!("{value:?}"));
        Self::floating(value, literal(value.abs()), literal(0.0), literal(1.0))
    }

    fn floating(value: f64, magnitude: Expr, zero: Expr, one: Expr) -> Expr {
        let magnitude = match value {
            _ if value.is_nan() => Expr::Binary(BinaryOp::Div, Box::new(zero.clone()), Box::new(zero)),
            _ if value.is_infinite() => Expr::Binary(BinaryOp::Div, Box::new(one), Box::new(zero)),
            _ => magnitude,
        };
        if value.is_sign_negative() { Expr::Unary(UnaryOp::Negate, Box::new(magnitude)) } else { magnitude }
    }

    /// A call of a function.
    pub fn call(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>, sort: Sort) -> Expr {
        let function = Box::new(name(function));
        Expr::Call { function, template: Vec::new(), arguments: arguments.into_iter().collect(), sort }
    }

    /// A call with arguments of its template.
    pub fn instance(
        function: impl Into<String>,
        template: impl IntoIterator<Item = Expr>,
        arguments: impl IntoIterator<Item = Expr>,
    ) -> Expr {
        let (template, arguments) = (template.into_iter().collect(), arguments.into_iter().collect());
        Expr::Call { function: Box::new(name(function)), template, arguments, sort: Sort::Other }
    }

    /// An operator before its operand, folded.
    pub fn unary(operator: UnaryOp, operand: impl Into<Expr>) -> Expr {
        fold::unary(operator, operand.into())
    }

    /// An operator between two operands, folded.
    pub fn binary(operator: BinaryOp, left: impl Into<Expr>, right: impl Into<Expr>) -> Expr {
        fold::binary(operator, left.into(), right.into())
    }

    /// `self ? then : otherwise`, folded.
    pub fn select(self, then: impl Into<Expr>, otherwise: impl Into<Expr>) -> Expr {
        fold::select(self, then.into(), otherwise.into())
    }

    /// `(T)self`
    pub fn cast(self, to: impl Into<Type>) -> Expr {
        Expr::Cast(to.into(), Box::new(self))
    }

    /// `self[index]`
    pub fn at(&self, index: impl Into<Expr>) -> Expr {
        Expr::Index(Box::new(self.clone()), Box::new(index.into()))
    }

    /// `self->member`, of which nothing is known.
    pub fn arrow(&self, member: impl Into<String>) -> Expr {
        let (object, member) = (Box::new(self.clone()), member.into());
        Expr::Member { object, pointer: true, member, sort: Sort::Other }
    }

    /// `self.member`, of which nothing is known.
    pub fn dot(&self, member: impl Into<String>) -> Expr {
        let (object, member) = (Box::new(self.clone()), member.into());
        Expr::Member { object, pointer: false, member, sort: Sort::Other }
    }

    /// The same, known to be a signed integer.
    pub fn integer(mut self) -> Expr {
        if let Expr::Name(_, sort) | Expr::Call { sort, .. } | Expr::Member { sort, .. } = &mut self {
            *sort = Sort::Integer;
        }
        self
    }

    /// `sizeof self`
    pub fn size_of(self) -> Expr {
        Expr::SizeOf(Box::new(self))
    }

    /// `*self`
    pub fn deref(self) -> Expr {
        Expr::Unary(UnaryOp::Deref, Box::new(self))
    }

    /// `&self`
    pub fn address(self) -> Expr {
        Expr::Unary(UnaryOp::Address, Box::new(self))
    }

    /// `self < other`
    pub fn lt(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Lt, self, other)
    }

    /// `self <= other`
    pub fn le(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Le, self, other)
    }

    /// `self > other`
    pub fn gt(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Gt, self, other)
    }

    /// `self >= other`
    pub fn ge(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Ge, self, other)
    }

    /// `self == other`
    pub fn is(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Eq, self, other)
    }

    /// `self != other`
    pub fn is_not(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Ne, self, other)
    }

    /// `self && other`
    pub fn and(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::And, self, other)
    }

    /// `self || other`
    pub fn or(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Or, self, other)
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Expr::Int(value)
    }
}

impl From<i32> for Expr {
    fn from(value: i32) -> Self {
        Expr::Int(i64::from(value))
    }
}

impl From<bool> for Expr {
    fn from(value: bool) -> Self {
        Expr::Bool(value)
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Self {
        expr.clone()
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:ident) => {
        impl<T: Into<Expr>> $trait<T> for Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::binary(BinaryOp::$operator, self, other)
            }
        }
        impl<T: Into<Expr>> $trait<T> for &Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::binary(BinaryOp::$operator, self, other)
            }
        }
    };
}

operator!(Add, add, Add);
operator!(Sub, sub, Sub);
operator!(Mul, mul, Mul);
operator!(Div, div, Div);
operator!(Rem, rem, Rem);

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::unary(UnaryOp::Negate, self)
    }
}

impl Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        Expr::unary(UnaryOp::Not, self)
    }
}
