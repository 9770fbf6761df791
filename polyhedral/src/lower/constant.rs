//! Default values of parameters: constant expressions over literals and earlier parameters.

use super::Lowering;
use super::names::Symbol;
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::diagnostic::{Code, Diagnostic};

impl Lowering<'_> {
    /// The value of a default; `None` if it has a mistake, which has then been reported. `known` parameters
    /// are declared so far.
    pub(super) fn constant(&mut self, expr: &ast::Expr, known: usize) -> Option<f64> {
        let mut chain = Vec::new();
        let mut first = expr;
        while let ast::ExprKind::Binary(operator, left, right) = &first.kind {
            if !matches!(operator, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) {
                break;
            }
            chain.push((*operator, right, &first.span));
            first = left;
        }
        let mut value = self.constant_operand(first, known);
        for (operator, right, span) in chain.into_iter().rev() {
            let right = self.constant(right, known);
            value = match (value, right) {
                (Some(left), Some(right)) => {
                    let result = match operator {
                        BinaryOp::Add => left + right,
                        BinaryOp::Sub => left - right,
                        BinaryOp::Mul => left * right,
                        _ => left / right,
                    };
                    if !result.is_finite() {
                        let what = if right == 0.0 {
                            "a division by zero"
                        } else {
                            "this value is too large for f64"
                        };
                        self.report(Diagnostic::error(Code::DEFAULT_NOT_FINITE, span.clone(), what));
                    }
                    result.is_finite().then_some(result)
                }
                _ => None,
            };
        }
        value
    }

    fn constant_operand(&mut self, expr: &ast::Expr, known: usize) -> Option<f64> {
        let why = match &expr.kind {
            ast::ExprKind::Error => return None,
            ast::ExprKind::Number { value, .. } => return Some(*value),
            ast::ExprKind::Unary(UnaryOp::Plus, operand) => return self.constant(operand, known),
            ast::ExprKind::Unary(UnaryOp::Minus, operand) => {
                return self.constant(operand, known).map(|value| -value);
            }
            ast::ExprKind::Name(name) => match self.names.get(name) {
                Some(Symbol::Parameter(id)) if id.0 < known => {
                    let broken = self.broken_parameters.contains(&id.0);
                    return (!broken).then(|| self.parameters[id.0].default);
                }
                Some(Symbol::Parameter(_)) => format!("the parameter `{name}` has no value yet"),
                Some(symbol) => format!("`{name}` is {}, not a constant", symbol.describe()),
                None => {
                    let hint = self
                        .names
                        .suggest(name, |symbol| matches!(symbol, Symbol::Parameter(id) if id.0 < known));
                    self.unknown(name, &expr.span, hint);
                    return None;
                }
            },
            ast::ExprKind::Access(name, _) => format!("the value of `{}` is not a constant", name.text),
            ast::ExprKind::Call(..) => "a default value calls no functions".to_string(),
            _ => "a default value has no conditions".to_string(),
        };
        self.report(
            Diagnostic::error(Code::DEFAULT_NOT_CONSTANT, expr.span.clone(), why)
                .note("a default value is made of numbers and earlier parameters with + - * /"),
        );
        None
    }
}
