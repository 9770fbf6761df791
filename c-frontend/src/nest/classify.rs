//! Macros of math.h that ask what kind of number a value is, and those that stand for numbers which no literal has.

use super::refusal::{Result, error, limitation};
use super::scalars::Kind;
use super::typed::{element_of, number};
use super::walker::Walker;
use crate::ast::{Expr as CExpr, ExprKind as CKind, Floating};
use crate::codes;
use polyhedral::program::{CompareOp, Condition, ElementType, Expr, ExprKind, Function, LocalId};
use polyhedral::source::Span;

/// A question about one value, or a comparison of two that is silent about numbers that are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    NotANumber,
    Infinite,
    Finite,
    Compare(CompareOp),
    LessOrGreater,
    Unordered,
}

/// What a call of this name asks; headers make calls of the compiler's own functions of the macros.
pub(super) fn question(name: &str) -> Option<Question> {
    Some(match name.strip_prefix("__builtin_").unwrap_or(name) {
        "isnan" => Question::NotANumber,
        "isinf" => Question::Infinite,
        "isfinite" => Question::Finite,
        "isgreater" => Question::Compare(CompareOp::Greater),
        "isgreaterequal" => Question::Compare(CompareOp::GreaterEqual),
        "isless" => Question::Compare(CompareOp::Less),
        "islessequal" => Question::Compare(CompareOp::LessEqual),
        "islessgreater" => Question::LessOrGreater,
        "isunordered" => Question::Unordered,
        _ => return None,
    })
}

/// Whether a call is of `isinf` as gcc has it: true and false as those of `isinf`, but -1 for negative values.
pub(super) fn is_signed_infinity(name: &str) -> bool {
    name == "__builtin_isinf_sign"
}

/// The type of what a call such as `__builtin_inff()` stands for: `INFINITY`, `HUGE_VAL`, `NAN`.
pub(super) fn special_number(name: &str) -> Option<Floating> {
    match name.strip_prefix("__builtin_").unwrap_or(name) {
        "nan" => Some(Floating::Double),
        "nanf" => Some(Floating::Float),
        "inf" | "huge_val" if name.starts_with("__builtin_") => Some(Floating::Double),
        "inff" | "huge_valf" if name.starts_with("__builtin_") => Some(Floating::Float),
        _ => None,
    }
}

impl Walker<'_> {
    /// The truth of a question about values; `None` if a call is none.
    pub(super) fn asked(&mut self, expr: &CExpr) -> Result<Option<Condition>> {
        let CKind::Call(function, arguments) = &expr.kind else { return Ok(None) };
        let CKind::Name(name) = &function.kind else { return Ok(None) };
        let asked = if is_signed_infinity(name) { Some(Question::Infinite) } else { question(name) };
        let Some(asked) = asked.filter(|_| !self.is_own(name)) else { return Ok(None) };
        let wanted = match asked {
            Question::NotANumber | Question::Infinite | Question::Finite => 1,
            Question::Compare(_) | Question::LessOrGreater | Question::Unordered => 2,
        };
        if arguments.len() != wanted {
            return error(
                codes::CALL,
                &expr.span,
                format!("`{name}` called with {} arguments", arguments.len()),
            );
        }
        let mut common = Kind::Integer;
        for argument in arguments {
            common = common.common(self.kind_of(argument)?);
        }
        let Kind::Floating(floating) = common else {
            return limitation(codes::TYPE, &expr.span, format!("`{name}` of an integer"));
        };
        let Some(element) = element_of(floating) else {
            return limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are");
        };
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.converted(argument, element)?);
        }
        // Each is used more than once.
        let span = &expr.span;
        let locals: Vec<Expr> = values.into_iter().map(|value| self.shared(value, span)).collect();
        let first = || locals[0].clone();
        let last = || locals[locals.len() - 1].clone();
        let compare = |operator, left, right| Condition::Compare(operator, left, right);
        let either = |a, b| Condition::Or(Box::new(a), Box::new(b));
        let magnitude = |value: Expr| Expr {
            kind: ExprKind::Call(Function::Abs, Box::new(value)),
            element,
            span: span.clone(),
        };
        let largest = match element {
            ElementType::F32 => f64::from(f32::MAX),
            ElementType::F64 => f64::MAX,
        };
        let largest = number(largest, element, span);
        Ok(Some(match asked {
            Question::NotANumber => compare(CompareOp::NotEqual, first(), first()),
            Question::Infinite => compare(CompareOp::Greater, magnitude(first()), largest),
            Question::Finite => compare(CompareOp::LessEqual, magnitude(first()), largest),
            Question::Compare(operator) => compare(operator, first(), last()),
            Question::LessOrGreater => either(
                compare(CompareOp::Less, first(), last()),
                compare(CompareOp::Greater, first(), last()),
            ),
            Question::Unordered => either(
                compare(CompareOp::NotEqual, first(), first()),
                compare(CompareOp::NotEqual, last(), last()),
            ),
        }))
    }

    /// A value that is used more than once.
    pub(super) fn shared(&mut self, value: Expr, span: &Span) -> Expr {
        if matches!(value.kind, ExprKind::Local(_) | ExprKind::Literal(_) | ExprKind::Parameter(_)) {
            return value;
        }
        let element = value.element;
        let id = self.temporary("asked", value);
        Expr { kind: ExprKind::Local(LocalId(id)), element, span: span.clone() }
    }

    /// Whether a function's name is one that the program gives to something of its own.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.region.functions.contains_key(name) || self.region.variables.contains_key(name)
    }
}
