//! What statements compute: typed expressions, conditions and reads.

use super::{ElementType, FieldId, LocalId, ParameterId, SeriesId};
use crate::math::{Libm, Libm2};
use crate::source::Span;

/// One read: field, time level relative to `t`, offset in space.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The field that is read.
    pub field: FieldId,
    /// Time level relative to `t`: 1 (computed earlier in this step), 0, -1, ...; 0 for coefficients.
    pub time: i64,
    /// Offset per dimension.
    pub offset: Vec<i64>,
}

/// A typed expression. Operands of an operation all have the type of its result (a [`ExprKind::Cast`]
/// stands where the source mixes types), so that a back end prints what it sees.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of the result.
    pub element: ElementType,
    /// Where it stands.
    pub span: Span,
}

/// What an expression computes. Evaluation order is that of the tree; no re-association, no contraction.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// A literal, rounded to the expression's type.
    Literal(f64),
    /// A parameter, rounded to the expression's type.
    Parameter(ParameterId),
    /// A local of the statement; it has the local's type.
    Local(LocalId),
    /// A field's value; it has the field's type.
    Read(Access),
    /// A series' value at the time of the step plus an offset; it has the series' type.
    Series(SeriesId, i64),
    /// `-x`
    Negate(Box<Expr>),
    /// `a op b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A function of one argument.
    Call(Function, Box<Expr>),
    /// `condition ? then : otherwise`
    Select(Box<Condition>, Box<Expr>, Box<Expr>),
    /// Conversion of the operand to the expression's type.
    Cast(Box<Expr>),
}

/// Binary arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a < b ? a : b`
    Min,
    /// `a > b ? a : b`
    Max,
    /// A function of the C library.
    Libm(Libm2),
}

/// Functions of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// Square root, correctly rounded.
    Sqrt,
    /// Exponential, by the portable algorithm of [`crate::portable_exp`].
    Exp,
    /// Absolute value.
    Abs,
    /// `x * x`, which C compilers make of `pow(x, 2)`.
    Square,
    /// A function of the C library.
    Libm(Libm),
}

/// A truth value.
#[derive(Debug, Clone)]
pub enum Condition {
    /// `a op b`, both of one type.
    Compare(CompareOp, Expr, Expr),
    /// `a && b`
    And(Box<Condition>, Box<Condition>),
    /// `a || b`
    Or(Box<Condition>, Box<Condition>),
    /// `!a`
    Not(Box<Condition>),
    /// A condition on the step and the point alone.
    Congruent(Congruence),
}

/// Whether a sum of the indices is congruent to a number: `time*t + sum of space_d * s_d = residue (mod modulus)`. All factors
/// and the residue are at least 0 and less than the modulus, which is at least 2.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Congruence {
    /// The factor of the time step.
    pub time: i64,
    /// The factor of each space index.
    pub space: Vec<i64>,
    /// What the sum is taken modulo.
    pub modulus: i64,
    /// What it shall be.
    pub residue: i64,
}

impl Congruence {
    /// The congruence with factors and residue brought into their range; `modulus` is at least 2.
    pub fn new(time: i64, space: Vec<i64>, modulus: i64, residue: i64) -> Congruence {
        let reduced = |number: i64| number.rem_euclid(modulus);
        let space = space.into_iter().map(reduced).collect();
        Congruence { time: reduced(time), space, modulus, residue: reduced(residue) }
    }

    /// The left side at a point of a time step, modulo the modulus.
    pub fn remainder(&self, step: i64, point: &[i64]) -> i64 {
        let term = |factor: i64, index: i64| factor * index.rem_euclid(self.modulus);
        let space = self.space.iter().zip(point).map(|(&factor, &index)| term(factor, index));
        (term(self.time, step) + space.sum::<i64>()).rem_euclid(self.modulus)
    }

    /// Whether it holds at a point of a time step.
    pub fn holds(&self, step: i64, point: &[i64]) -> bool {
        self.remainder(step, point) == self.residue
    }
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Expr {
    /// `base` to the power of `exponent`, both of one type, as C compilers compute it: they make products and
    /// quotients of the literal exponents 2, 1, 0 and -1, whose bits may differ from those of the library's `pow`.
    pub fn power(base: Expr, exponent: Expr, span: Span) -> Expr {
        let element = base.element;
        let expr = |kind| Expr { kind, element, span: span.clone() };
        let kind = match exponent.kind {
            ExprKind::Literal(2.0) => ExprKind::Call(Function::Square, Box::new(base)),
            ExprKind::Literal(1.0) => return base,
            ExprKind::Literal(0.0) => ExprKind::Literal(1.0),
            ExprKind::Literal(-1.0) => {
                ExprKind::Binary(BinaryOp::Div, Box::new(expr(ExprKind::Literal(1.0))), Box::new(base))
            }
            _ => ExprKind::Binary(BinaryOp::Libm(Libm2::Pow), Box::new(base), Box::new(exponent)),
        };
        expr(kind)
    }
}
