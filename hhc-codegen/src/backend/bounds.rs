//! The one conversion of a plan's bounds to the tree.
//!
//! Bounds stand for whole numbers, and entry points refuse sizes with which one could overflow. So their constants and
//! like terms may be gathered, whatever their order.

use super::points::INT;
use crate::int_expr::IntExpr;
use crate::plan::{Kernel, Loop};
use c_tree::{Block, Expr, Sort, Stmt, int, var};

/// A sum: terms with their factors, in order; the constant is a multiple of `None`.
#[derive(Default)]
struct Sum(Vec<(i64, Option<Expr>)>);

impl Sum {
    /// Adds a bound. A sum that is subtracted as a whole stays one: it is often the same in all iterations of a loop.
    fn add(&mut self, factor: i64, bound: &IntExpr) {
        match bound {
            IntExpr::Const(value) => self.term(factor * value, None),
            IntExpr::Add(a, b) => {
                self.add(factor, a);
                self.add(factor, b);
            }
            IntExpr::Sub(a, b) => {
                self.add(factor, a);
                match b.as_ref() {
                    IntExpr::Add(..) | IntExpr::Sub(..) => self.term(-factor, Some(expr(b))),
                    b => self.add(-factor, b),
                }
            }
            IntExpr::Scale(own, a) => match a.as_ref() {
                // A multiple of a sum stays one.
                IntExpr::Add(..) | IntExpr::Sub(..) => self.term(factor * own, Some(expr(a))),
                a => self.add(factor * own, a),
            },
            atom => self.term(factor, Some(expr(atom))),
        }
    }

    /// Adds a term. A constant of several stands behind the first term, before what may change in a loop: compilers keep the
    /// order of a sum, and the registers of a kernel depend on what stays together.
    fn term(&mut self, factor: i64, term: Option<Expr>) {
        match self.0.iter().position(|(_, known)| *known == term) {
            Some(at) => {
                self.0[at].0 += factor;
                if term.is_none() {
                    let constant = self.0.remove(at);
                    self.0.insert(at.min(1), constant);
                }
            }
            None => self.0.push((factor, term)),
        }
        self.0.retain(|(factor, _)| *factor != 0);
    }

    /// The sum; it begins with a term that is added, if there is one.
    fn expr(mut self) -> Expr {
        let begin = self.0.iter().position(|(factor, _)| *factor > 0);
        if self.0.is_empty() {
            return int(0);
        }
        let first = self.0.remove(begin.unwrap_or(0));
        self.0.into_iter().fold(times(first.0, first.1), |sum, (factor, term)| match factor {
            0.. => sum + times(factor, term),
            _ => sum - times(-factor, term),
        })
    }
}

/// A term and its factor.
fn times(factor: i64, term: Option<Expr>) -> Expr {
    match (factor, term) {
        (factor, None) => int(factor),
        (-1, Some(term)) => -term,
        (factor, Some(term)) => int(factor) * term,
    }
}

/// A bound as an expression. Uses the helpers `tw_floordiv`, `tw_modulo`, `tw_min`, `tw_max` of the templates.
pub(super) fn expr(bound: &IntExpr) -> Expr {
    let of = |function: &str, a: &IntExpr, b: Expr| Expr::call(function, [expr(a), b], Sort::Integer);
    match bound {
        IntExpr::Const(value) => int(*value),
        IntExpr::Var(name) => var(*name),
        IntExpr::Add(..) | IntExpr::Sub(..) | IntExpr::Scale(..) => {
            let mut sum = Sum::default();
            sum.add(1, bound);
            sum.expr()
        }
        IntExpr::FloorDiv(a, divisor) => of("tw_floordiv", a, int(*divisor)),
        IntExpr::Modulo(a, divisor) => of("tw_modulo", a, int(*divisor)),
        IntExpr::Min(a, b) => of("tw_min", a, expr(b)),
        IntExpr::Max(a, b) => of("tw_max", a, expr(b)),
    }
}

/// `bound >= 0`, with what is subtracted on the other side.
pub(super) fn non_negative(bound: &IntExpr) -> Expr {
    let mut sum = Sum::default();
    sum.add(1, bound);
    let (own, mut other): (Vec<_>, Vec<_>) =
        sum.0.into_iter().partition(|(factor, term)| *factor > 0 && term.is_some());
    other.iter_mut().for_each(|(factor, _)| *factor = -*factor);
    match own.is_empty() {
        // 0 <= 5 - x
        true if other.iter().any(|(factor, term)| term.is_none() && *factor < 0) => {
            let constant = other.iter().position(|(_, term)| term.is_none()).map(|at| other.remove(at).0);
            int(-constant.unwrap_or(0)).ge(Sum(other).expr())
        }
        _ => Sum(own).expr().ge(Sum(other).expr()),
    }
}

/// Whether a time step exists.
pub(super) fn step_exists(step: &IntExpr) -> Expr {
    expr(step).ge(0).and(expr(step).lt(var("steps")))
}

/// Loops of a plan around a block, outermost first.
pub(super) fn loops<'a>(
    loops: impl IntoIterator<Item = &'a Loop, IntoIter: DoubleEndedIterator>,
    inner: Block,
) -> Block {
    loops.into_iter().rev().fold(inner, |inner, around| {
        Stmt::range(INT, around.variable, expr(&around.low), expr(&around.high), inner).into()
    })
}

/// Declarations of the bindings that a kernel's text uses, or one of which another binding is made.
pub(super) fn bindings(kernel: &Kernel, text: &Block) -> Block {
    let mut used: Vec<Stmt> = Vec::new();
    for binding in kernel.bindings.iter().rev() {
        let later = |statement: &Stmt| Block::from(statement.clone()).mentions(binding.name);
        if text.mentions(binding.name) || used.iter().any(later) {
            let declaration = Stmt::constant(INT, binding.name, expr(&binding.value));
            used.push(declaration.note(binding.comment.as_str()));
        }
    }
    used.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::{expr, non_negative};
    use crate::int_expr::{IntExpr, int, var};
    use c_tree::Dialect;

    fn text(bound: &IntExpr) -> String {
        Dialect::C.one_line(&expr(bound))
    }

    #[test]
    fn constants_and_like_terms_are_gathered() {
        let (x, y) = (var("x"), var("y"));
        for (bound, expected) in [
            (x.clone() - 1 + (y.clone() - 1), "x - 2 + y"),
            (x.clone() + (y.clone() + 5), "x + y + 5"),
            (int(3) - x.clone(), "3 - x"),
            (int(0) - x.clone(), "-x"),
            (int(0) - x.clone() - 3, "-x - 3"),
            (y.clone() * -2 + x.clone() * 3, "3 * x - 2 * y"),
            (x.clone() + y.clone() - x.clone(), "y"),
            (x.clone() - x.clone() * 1 + 4, "4"),
            ((x.clone() + 1) * 64 + 5, "64 * (x + 1) + 5"),
            ((x.clone() + 1).min(y.clone()).floor_div(4), "tw_floordiv(tw_min(x + 1, y), 4)"),
            (x.clone() - (y.clone() - 2) - 1, "x - (y - 2) - 1"),
            (x.clone() + (y.clone() - var("z") - 1) + 3, "x + 2 + y - z"),
        ] {
            assert_eq!(text(&bound), expected);
        }
    }

    #[test]
    fn conditions_have_no_minus() {
        let (x, y) = (var("x"), var("y"));
        for (bound, expected) in [
            (x.clone() - 1, "x >= 1"),
            (x.clone() - (y.clone() + 64), "x >= y + 64"),
            (int(5) - x.clone(), "5 >= x"),
            (x.clone() + 2, "x >= -2"),
        ] {
            assert_eq!(Dialect::C.one_line(&non_negative(&bound)), expected);
        }
    }
}
