//! What is known of a value before it is computed: what it depends on, and of which kind it is.

use super::classify::{is_signed_infinity, question, special_number};
use super::depends::Depends;
use super::element::subscripts;
use super::math::{END, math_function};
use super::refusal::{Result, error, limitation};
use super::scalars::{Held, Kind};
use super::walker::Walker;
use crate::ast::{BinaryOp as COperator, CType, Expr as CExpr, ExprKind as CKind, Floating, UnaryOp};
use crate::codes;
use crate::text::c_text;
use polyhedral::diagnostic::Diagnostic;
use polyhedral::source::Span;

impl Walker<'_> {
    /// What a value depends on.
    pub(super) fn depends(&self, expr: &CExpr) -> Depends {
        let mut found = Depends::default();
        match &expr.kind {
            CKind::Name(name) => {
                if let Some(held) = self.environment.get(name) {
                    return match held {
                        Held::Integer(_, expr) => self.depends(expr),
                        _ => Depends { data: true, ..found },
                    };
                }
                found.place = self.open_loop(name).is_some();
                found.time = *name == self.nest.time.name;
                found.bare = found.place || found.time;
                found.data = self.states.contains(name) || (self.assigned.contains(name) && !found.bare);
                found
            }
            CKind::Index(array, index) => {
                let index = Depends { bare: false, ..self.depends(index) };
                self.depends(array).and(index)
            }
            CKind::Integer { .. } | CKind::Floating { .. } => found,
            CKind::Turn { .. } => Depends { time: true, ..found },
            CKind::Other(_, text) => {
                // `sizeof x` and the like name types and variables only.
                found.data = self.states.iter().any(|name| text.contains(name.as_str()))
                    && !text.starts_with("sizeof");
                found
            }
            CKind::Call(_, list) | CKind::List(list) => {
                list.iter().fold(found, |sum, one| sum.and(self.depends(one)))
            }
            CKind::Unary(_, a) | CKind::Step(_, a) | CKind::Cast(_, a) | CKind::Member(a, ..) => {
                self.depends(a)
            }
            CKind::Binary(_, a, b) | CKind::Assign(_, a, b) | CKind::Comma(a, b) => {
                self.depends(a).and(self.depends(b))
            }
            CKind::Conditional(a, b, c) => self.depends(a).and(self.depends(b)).and(self.depends(c)),
        }
    }

    /// Whether a value is an integer or of which floating-point type.
    pub(super) fn kind_of(&self, expr: &CExpr) -> Result<Kind> {
        match &expr.kind {
            CKind::Integer { .. } | CKind::Turn { .. } => Ok(Kind::Integer),
            CKind::Floating { kind, .. } => Ok(Kind::Floating(*kind)),
            CKind::Name(name) => match self.environment.get(name) {
                Some(Held::Integer(..) | Held::Whole { .. }) => Ok(Kind::Integer),
                Some(Held::Temporary(_, kind)) => Ok(Kind::Floating(*kind)),
                Some(Held::Nothing(kind) | Held::Carried(kind, _)) => Ok(*kind),
                None if self.open_loop(name).is_some() || *name == self.nest.time.name => Ok(Kind::Integer),
                None => {
                    let Some(variable) = self.region.variables.get(name) else {
                        return self.unknown(name, &expr.span);
                    };
                    self.kind_of_type(&variable.ctype, expr)
                }
            },
            CKind::Index(..) | CKind::Unary(UnaryOp::Dereference, _) => {
                let (base, indices) = subscripts(expr);
                let CKind::Name(name) = &base.kind else {
                    return limitation(
                        codes::ARRAY,
                        &base.span,
                        "an array that is not a variable of its own",
                    );
                };
                let Some(variable) = self.region.variables.get(name) else {
                    return self.unknown(name, &base.span);
                };
                if variable.ctype.depth() != indices.len() {
                    let message = format!(
                        "`{name}` has {} dimensions, and {} indices here",
                        variable.ctype.depth(),
                        indices.len()
                    );
                    return error(codes::DIMENSION, &expr.span, message);
                }
                self.kind_of_type(variable.ctype.element(), expr)
            }
            CKind::Call(function, _) => match &function.kind {
                CKind::Name(name) if self.is_own(name) => self.not_a_function(name, &expr.span),
                CKind::Name(name) if name == "abs" || name == "labs" => Ok(Kind::Integer),
                CKind::Name(name) if question(name).is_some() || is_signed_infinity(name) => {
                    Ok(Kind::Integer)
                }
                CKind::Name(name) if special_number(name).is_some() => {
                    Ok(Kind::Floating(special_number(name).unwrap_or(Floating::Double)))
                }
                CKind::Name(name) => match math_function(name) {
                    Some((_, kind)) => Ok(Kind::Floating(kind)),
                    None => self.not_a_function(name, &expr.span),
                },
                _ => limitation(codes::CALL, &expr.span, "a call through a pointer"),
            },
            CKind::Unary(UnaryOp::Not, _) => Ok(Kind::Integer),
            CKind::Unary(UnaryOp::Address, _) => {
                limitation(codes::EXPRESSION, &expr.span, "an address as a value")
            }
            CKind::Unary(_, operand) => self.kind_of(operand),
            CKind::Binary(operator, left, right) => {
                use COperator::*;
                if matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
                {
                    return Ok(Kind::Integer);
                }
                // Long sums lean to the left.
                let mut kind = self.kind_of(right)?;
                let mut at = left;
                while let CKind::Binary(Add | Sub | Mul | Div, left, right) = &at.kind {
                    kind = kind.common(self.kind_of(right)?);
                    at = left;
                }
                Ok(kind.common(self.kind_of(at)?))
            }
            CKind::Cast(ctype, _) => self.kind_of_type(ctype, expr),
            CKind::Conditional(_, then, otherwise) => {
                Ok(self.kind_of(then)?.common(self.kind_of(otherwise)?))
            }
            CKind::Member(..) => match self.member_type(expr) {
                Some(ctype) => self.kind_of_type(ctype, expr),
                None => {
                    let text = c_text(expr, &|_| None);
                    let message =
                        format!("`{text}` is a member of a structure, whose type is not known here");
                    limitation(codes::TYPE, &expr.span, message)
                }
            },
            CKind::Other(kind, _) if kind == "sizeof expression" => Ok(Kind::Integer),
            CKind::Other(kind, _) if kind == END => {
                let message =
                    "a function that may end the program here, under a condition that is not known before";
                limitation(codes::CALL, &expr.span, message)
            }
            CKind::Assign(..) | CKind::Step(..) | CKind::Comma(..) => {
                limitation(codes::EXPRESSION, &expr.span, "an assignment within a value")
            }
            CKind::List(_) => limitation(codes::EXPRESSION, &expr.span, "a list of values in a stencil"),
            CKind::Other(kind, _) => {
                limitation(codes::EXPRESSION, &expr.span, format!("a {kind} in a stencil"))
            }
        }
    }

    /// The type of `object.member`, for an object that is a variable, or a member or element of one.
    pub(super) fn member_type(&self, expr: &CExpr) -> Option<&CType> {
        match &expr.kind {
            CKind::Name(name) if self.environment.get(name).is_none() => {
                self.region.variables.get(name).map(|variable| &variable.ctype)
            }
            CKind::Index(object, _) | CKind::Unary(UnaryOp::Dereference, object) => {
                match self.member_type(object)? {
                    CType::Pointer(element) | CType::Array(element, _) => Some(element),
                    _ => None,
                }
            }
            CKind::Member(object, arrow, member) => {
                let mut own = self.member_type(object)?;
                if let (true, CType::Pointer(pointed) | CType::Array(pointed, _)) = (*arrow, own) {
                    own = pointed;
                }
                let CType::Other(name) = own else { return None };
                self.region.structures.get(name)?.get(member)
            }
            _ => None,
        }
    }

    fn kind_of_type(&self, ctype: &CType, expr: &CExpr) -> Result<Kind> {
        match ctype {
            CType::Integer { .. } => Ok(Kind::Integer),
            CType::Floating(Floating::LongDouble) => {
                limitation(codes::TYPE, &expr.span, "long double is not supported; float and double are")
            }
            CType::Floating(kind) => Ok(Kind::Floating(*kind)),
            other => limitation(
                codes::TYPE,
                &expr.span,
                format!(
                    "a value of type `{}`; only float, double and integers are supported",
                    crate::text::type_text(other)
                ),
            ),
        }
    }

    /// Refuses a name: the C compiler has found its declaration, in which something is not understood here.
    pub(super) fn unknown<T>(&self, name: &str, span: &Span) -> Result<T> {
        limitation(codes::UNKNOWN_NAME, span, format!("the declaration of `{name}` is not understood"))
    }

    /// Refuses a call, and says why.
    pub(super) fn not_a_function<T>(&self, name: &str, span: &Span) -> Result<T> {
        let mut diagnostic = Diagnostic::limitation(
            codes::CALL,
            span.clone(),
            format!("a call of `{name}`, which is not a function of math.h"),
        );
        diagnostic = match self.region.functions.get(name) {
            Some(_) => diagnostic
                .note("it may have side effects; calls are not looked into")
                .hint("write it as a macro"),
            None => diagnostic.note("calls with side effects cannot be moved to another order"),
        };
        Err(Box::new(diagnostic))
    }
}
