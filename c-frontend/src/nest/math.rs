//! Functions whose values follow from their arguments, by their names in C.

use super::classify::{is_signed_infinity, question, special_number};
use crate::ast::{Expr, ExprKind, Floating};
use polyhedral::math::{Libm, Libm2};
use polyhedral::program::Function;

/// A function of math.h.
pub(super) enum Math {
    One(Function),
    Two(Libm2),
}

/// The function of math.h of this name, and the type it computes in.
pub(super) fn math_function(name: &str) -> Option<(Math, Floating)> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let kind = |single| if single { Floating::Float } else { Floating::Double };
    match name {
        "sqrt" | "sqrtf" => Some((Math::One(Function::Sqrt), kind(name == "sqrtf"))),
        "fabs" | "fabsf" => Some((Math::One(Function::Abs), kind(name == "fabsf"))),
        _ => Libm::by_c_name(name)
            .map(|(function, single)| (Math::One(Function::Libm(function)), kind(single)))
            .or_else(|| Libm2::by_c_name(name).map(|(function, single)| (Math::Two(function), kind(single)))),
    }
}

/// Whether a function's value follows from its arguments, and a call changes nothing.
pub(crate) fn is_pure(name: &str) -> bool {
    math_function(name).is_some()
        || name == "abs"
        || name == "labs"
        || question(name).is_some()
        || is_signed_infinity(name)
        || special_number(name).is_some()
        || name == ENDS
}

/// The question whether a function that is called would end the program: `exit(1);` under a condition.
pub(crate) const ENDS: &str = "tw_ends";
/// What stands for the value of a function where it has ended the program.
pub(crate) const END: &str = "end of the program";

/// Whether a function stands for a number such as infinity.
pub(super) fn is_special(function: &Expr) -> bool {
    matches!(&function.kind, ExprKind::Name(name) if special_number(name).is_some())
}

/// Whether a value can be written out more than once: it changes nothing.
pub(crate) fn is_pure_value(expr: &Expr) -> bool {
    let mut pure = true;
    expr.walk(&mut |part| {
        pure &= match &part.kind {
            ExprKind::Assign(..) | ExprKind::Step(..) => false,
            ExprKind::Call(function, _) => {
                matches!(&function.kind, ExprKind::Name(name) if is_pure(name))
            }
            ExprKind::Other(kind, _) => kind == "sizeof expression",
            _ => true,
        };
    });
    pure
}
