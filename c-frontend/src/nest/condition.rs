//! Conditions: of `?:`, and of `if` around assignments.

use super::scalars::Kind;
use super::value::number;
use super::{Narrowed, Result, Walker, element_of, limitation};
use crate::ast::{BinaryOp as COperator, CType, Expr as CExpr, ExprKind as CKind, UnaryOp};
use crate::codes;
use crate::polynomial::Polynomial;
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
                Ok(Condition::And(Box::new(self.condition(left)?), Box::new(self.condition(right)?)))
            }
            CKind::Binary(COperator::Or, left, right) => {
                Ok(Condition::Or(Box::new(self.condition(left)?), Box::new(self.condition(right)?)))
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
                if kind.is_integer() && !self.compares_signed(left, right) {
                    let message = "a comparison of unsigned integers that depend on time and place";
                    return limitation(codes::TIME_VALUE, &expr.span, message);
                }
                let operator = compare_of(*operator).unwrap_or(CompareOp::Equal);
                Ok(Condition::Compare(
                    operator,
                    self.converted(left, element)?,
                    self.converted(right, element)?,
                ))
            }
            _ => {
                // A number is true if it is not zero.
                let value = self.value(expr)?;
                let zero = number(0.0, value.element, &expr.span);
                Ok(Condition::Compare(CompareOp::NotEqual, value, zero))
            }
        }
    }

    /// The bounds that a condition on indices means: loop, first value, behind the last value. `None` if it is not a
    /// conjunction of such.
    pub(super) fn as_bounds(&self, expr: &CExpr) -> Option<Vec<Narrowed>> {
        let CKind::Binary(operator, left, right) = &expr.kind else { return None };
        if *operator == COperator::And {
            let mut bounds = self.as_bounds(left)?;
            bounds.extend(self.as_bounds(right)?);
            return Some(bounds);
        }
        if !self.compares_signed(left, right) {
            return None;
        }
        // index + rest OP 0
        let difference = self.polynomial(left)?.plus(&self.polynomial(right)?, -1)?;
        let (operator, difference) = match difference.index_plus() {
            Some(_) => (*operator, difference),
            None => {
                let mirrored = match operator {
                    COperator::Less => COperator::Greater,
                    COperator::LessEqual => COperator::GreaterEqual,
                    COperator::Greater => COperator::Less,
                    COperator::GreaterEqual => COperator::LessEqual,
                    other => *other,
                };
                (mirrored, Polynomial::number(0).plus(&difference, -1)?)
            }
        };
        let (index, rest) = difference.index_plus()?;
        if !rest.is_invariant() {
            return None;
        }
        let value = Polynomial::number(0).plus(&rest, -1)?;
        let above = value.plus(&Polynomial::number(1), 1)?;
        Some(vec![match operator {
            COperator::Less => (index, None, Some(value)),
            COperator::LessEqual => (index, None, Some(above)),
            COperator::Greater => (index, Some(above), None),
            COperator::GreaterEqual => (index, Some(value), None),
            COperator::Equal => (index, Some(value), Some(above)),
            _ => return None,
        }])
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
