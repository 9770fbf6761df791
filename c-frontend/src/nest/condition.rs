//! Conditions: of `?:`, and of `if` around assignments.

use super::classify::question;
use super::refusal::{Result, limitation};
use super::scalars::Kind;
use super::typed::{element_of, number};
use super::walker::Walker;
use crate::ast::{BinaryOp as COperator, CType, Expr as CExpr, ExprKind as CKind, UnaryOp};
use crate::codes;
use polyhedral::program::{CompareOp, Condition, ElementType};

impl Walker<'_> {
    /// A truth value.
    pub(super) fn condition(&mut self, expr: &CExpr) -> Result<Condition> {
        let depends = self.depends(expr);
        if !depends.data && self.kind_of(expr)?.is_integer() && (depends.bare || !self.is_condition(expr)) {
            // Known without the data: one or zero, computed by the C compiler.
            let zero =
                CExpr { kind: CKind::Integer { value: 0, text: "0".to_owned() }, span: expr.span.clone() };
            let kind = CKind::Binary(COperator::NotEqual, Box::new(expr.clone()), Box::new(zero));
            let truth = CExpr { kind, span: expr.span.clone() };
            let truth = if self.is_condition(expr) { expr.clone() } else { truth };
            if !(depends.time && depends.place) {
                let element = ElementType::F32;
                let value = self.outside(&truth, depends, element)?;
                return Ok(Condition::Compare(CompareOp::NotEqual, value, number(0.0, element, &expr.span)));
            }
        }
        if let Some(asked) = self.asked(expr)? {
            return Ok(asked);
        }
        match &expr.kind {
            CKind::Binary(COperator::And, left, right) => {
                let first = Box::new(self.condition(left)?);
                let second = self.under(left, true, |this| this.condition(right))?;
                Ok(Condition::And(first, Box::new(second)))
            }
            CKind::Binary(COperator::Or, left, right) => {
                let first = Box::new(self.condition(left)?);
                let second = self.under(left, false, |this| this.condition(right))?;
                Ok(Condition::Or(first, Box::new(second)))
            }
            CKind::Unary(UnaryOp::Not, operand) => Ok(Condition::Not(Box::new(self.condition(operand)?))),
            CKind::Cast(CType::Integer { .. }, operand) if self.is_condition(operand) => {
                self.condition(operand)
            }
            CKind::Binary(operator, left, right) if compare_of(*operator).is_some() => {
                let kind = self.kind_of(left)?.common(self.kind_of(right)?);
                let element = match kind {
                    Kind::Integer => ElementType::F64,
                    Kind::Floating(kind) => match element_of(kind) {
                        Some(element) => element,
                        None => return limitation(codes::TYPE, &expr.span, "long double is not supported"),
                    },
                };
                let by = compare_of(*operator).unwrap_or(CompareOp::Equal);
                if kind.is_integer() && depends.data {
                    let (left, right) = self.compared_wholes(left, right)?;
                    return Ok(Condition::Compare(by, left, right));
                }
                if kind.is_integer() && !self.compares_signed(left, right) {
                    let message = "a comparison of unsigned integers that depend on time and place";
                    return limitation(codes::TIME_VALUE, &expr.span, message);
                }
                Ok(Condition::Compare(by, self.converted(left, element)?, self.converted(right, element)?))
            }
            _ => {
                // A number is true if it is not zero.
                let value = self.value(expr)?;
                let zero = number(0.0, value.element, &expr.span);
                Ok(Condition::Compare(CompareOp::NotEqual, value, zero))
            }
        }
    }

    /// Whether an integer is a truth value.
    pub(super) fn is_condition(&self, expr: &CExpr) -> bool {
        use COperator::*;
        match &expr.kind {
            CKind::Binary(operator, ..) => {
                matches!(operator, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
            }
            CKind::Unary(UnaryOp::Not, _) => true,
            CKind::Call(function, _) => {
                matches!(&function.kind, CKind::Name(name) if question(name).is_some() && !self.is_own(name))
            }
            _ => false,
        }
    }
}

fn compare_of(operator: COperator) -> Option<CompareOp> {
    Some(match operator {
        COperator::Less => CompareOp::Less,
        COperator::LessEqual => CompareOp::LessEqual,
        COperator::Greater => CompareOp::Greater,
        COperator::GreaterEqual => CompareOp::GreaterEqual,
        COperator::Equal => CompareOp::Equal,
        COperator::NotEqual => CompareOp::NotEqual,
        _ => return None,
    })
}
