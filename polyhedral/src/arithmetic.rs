//! What generated code may compute in place of a program's own operations, where somebody asks for it.
//!
//! The reference has none of it. How far results may move then is said by [`crate::contraction`].

pub use crate::program::Arithmetic;

use crate::program::{BinaryOp, ElementType, Expr, ExprKind, Function, Program, Statement};

/// `(+-)a * b (+-) addend`, rounded once.
#[derive(Debug, Clone, Copy)]
pub struct Fused<'a> {
    /// The factors.
    pub factors: [&'a Expr; 2],
    /// What is added.
    pub addend: &'a Expr,
    /// Whether the product is subtracted.
    pub negate_product: bool,
    /// Whether the addend is.
    pub negate_addend: bool,
}

/// A quotient or a root that is an approximation.
#[derive(Debug, Clone, Copy)]
pub enum Approximation<'a> {
    /// `a / b`, off by at most 2 units in the last place.
    Quotient(&'a Expr, &'a Expr),
    /// `sqrt(x)`, off by at most 2^-23 of it.
    Root(&'a Expr),
    /// `a / sqrt(x)`: a product with the reciprocal of a root, which is off by at most 2^-22.9 of it.
    OverRoot(&'a Expr, &'a Expr),
}

impl Arithmetic {
    /// Whether some quotient or root of a program is an approximation.
    pub fn approximates(self, program: &Program) -> bool {
        let values = program.statements.iter().flat_map(Statement::values);
        let mut found = false;
        values.for_each(|value| value.walk(|expr| found |= self.approximation(expr).is_some()));
        found
    }

    /// A sum or a difference with a product that is contracted. Of two products it is the one with more operations: it is known
    /// later.
    pub fn fused(self, expr: &Expr) -> Option<Fused<'_>> {
        let ExprKind::Binary(operator @ (BinaryOp::Add | BinaryOp::Sub), left, right) = &expr.kind else {
            return None;
        };
        if !self.contract {
            return None;
        }
        let subtracts = *operator == BinaryOp::Sub;
        let of_left = || factors(left).map(|factors| (factors, &**right, false, subtracts));
        let of_right = || factors(right).map(|factors| (factors, &**left, subtracts, false));
        let found = match (of_left(), of_right()) {
            (Some(left_one), Some(right_one)) => match operations(left) > operations(right) {
                true => left_one,
                false => right_one,
            },
            (left_one, right_one) => left_one.or(right_one)?,
        };
        let (factors, addend, negate_product, negate_addend) = found;
        Some(Fused { factors, addend, negate_product, negate_addend })
    }

    /// A quotient or a root that is an approximation.
    pub fn approximation(self, expr: &Expr) -> Option<Approximation<'_>> {
        if !self.approximate || expr.element != ElementType::F32 {
            return None;
        }
        match &expr.kind {
            ExprKind::Binary(BinaryOp::Div, a, b) => Some(match &b.kind {
                ExprKind::Call(Function::Sqrt, x) => Approximation::OverRoot(a, x),
                _ => Approximation::Quotient(a, b),
            }),
            ExprKind::Call(Function::Sqrt, x) => Some(Approximation::Root(x)),
            _ => None,
        }
    }
}

/// The factors of a product. That of `x * x` is printed twice, so that it is a name.
fn factors(expr: &Expr) -> Option<[&Expr; 2]> {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Mul, a, b) => Some([a, b]),
        ExprKind::Call(Function::Square, x) if operations(x) == 0 => Some([x, x]),
        _ => None,
    }
}

fn operations(expr: &Expr) -> usize {
    let mut sum = 0;
    expr.walk(|expr| sum += usize::from(matches!(expr.kind, ExprKind::Binary(..) | ExprKind::Call(..))));
    sum
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::counts::counts;

    fn program(name: &str, arithmetic: Arithmetic) -> Program {
        let shipped = crate::shipped::load(name).unwrap().with_element_type(ElementType::F32);
        Program { arithmetic, ..shipped }
    }

    /// What is printed as one operation: each sum with a product, of two products the one with more operations.
    #[test]
    fn sums_with_products_are_fused() {
        let contract = Arithmetic { contract: true, approximate: false };
        for (name, fused) in [("star2d1r", 1), ("box2d1r", 1), ("star2d2r", 2), ("gradient2d", 4)] {
            assert_eq!(counts(&program(name, contract)).operations.fused, fused, "{name}");
            assert_eq!(counts(&program(name, Arithmetic::default())).operations.fused, 0, "{name}");
        }
        let star = program("star2d1r", contract);
        let fused = contract.fused(&star.statements[0].value).unwrap();
        assert!(matches!(fused.factors[1].kind, ExprKind::Binary(BinaryOp::Add, ..)));
        assert!(matches!(fused.addend.kind, ExprKind::Binary(BinaryOp::Mul, ..)));
    }

    #[test]
    fn approximations_are_for_single_precision() {
        let fast = Arithmetic { contract: false, approximate: true };
        assert!(
            fast.approximates(&program("gradient2d", fast)) && !fast.approximates(&program("star2d1r", fast))
        );
        let double = program("gradient2d", fast).with_element_type(ElementType::F64);
        assert!(!fast.approximates(&double));
    }
}
