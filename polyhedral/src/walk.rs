//! Walks over expressions, without recursion, so that long chains are safe on any stack.

use crate::program::{Condition, Expr, ExprKind};

impl Expr {
    /// Calls `visit` on this expression and all below it, each before its operands, operands from left to
    /// right; a select's condition comes before its branches.
    pub fn walk<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            match &expr.kind {
                ExprKind::Literal(_)
                | ExprKind::Parameter(_)
                | ExprKind::Local(_)
                | ExprKind::Read(_)
                | ExprKind::Series(..) => {}
                ExprKind::Negate(operand) | ExprKind::Call(_, operand) | ExprKind::Cast(operand) => {
                    stack.push(operand);
                }
                ExprKind::Binary(_, left, right) => stack.extend([&**right, &**left]),
                ExprKind::Select(condition, then, otherwise) => {
                    stack.extend([&**otherwise, &**then]);
                    let mut conditions = vec![&**condition];
                    // Pushed from right to left, popped from left to right.
                    while let Some(condition) = conditions.pop() {
                        match condition {
                            Condition::Compare(_, left, right) => stack.extend([right, left]),
                            Condition::And(left, right) | Condition::Or(left, right) => {
                                conditions.extend([&**left, &**right]);
                            }
                            Condition::Not(inner) => conditions.push(inner),
                            Condition::Congruent(_) => {}
                        }
                    }
                }
            }
        }
    }

    /// Like [`Expr::walk`], with the expressions open to change, in no particular order but each before its
    /// operands.
    pub fn walk_mut(&mut self, mut visit: impl FnMut(&mut Expr)) {
        let mut stack = vec![self];
        while let Some(expr) = stack.pop() {
            visit(expr);
            match &mut expr.kind {
                ExprKind::Literal(_)
                | ExprKind::Parameter(_)
                | ExprKind::Local(_)
                | ExprKind::Read(_)
                | ExprKind::Series(..) => {}
                ExprKind::Negate(operand) | ExprKind::Call(_, operand) | ExprKind::Cast(operand) => {
                    stack.push(operand);
                }
                ExprKind::Binary(_, left, right) => stack.extend([&mut **right, &mut **left]),
                ExprKind::Select(condition, then, otherwise) => {
                    stack.extend([&mut **otherwise, &mut **then]);
                    let mut conditions = vec![&mut **condition];
                    while let Some(condition) = conditions.pop() {
                        match condition {
                            Condition::Compare(_, left, right) => stack.extend([right, left]),
                            Condition::And(left, right) | Condition::Or(left, right) => {
                                conditions.extend([&mut **left, &mut **right]);
                            }
                            Condition::Not(inner) => conditions.push(inner),
                            Condition::Congruent(_) => {}
                        }
                    }
                }
            }
        }
    }

    /// Calls `visit` on every condition of the selects in this expression, each before those that it is made of.
    pub fn walk_conditions<'a>(&'a self, mut visit: impl FnMut(&'a Condition)) {
        self.walk(|expr| {
            let ExprKind::Select(condition, ..) = &expr.kind else { return };
            let mut conditions = vec![&**condition];
            while let Some(condition) = conditions.pop() {
                visit(condition);
                match condition {
                    Condition::Compare(..) | Condition::Congruent(_) => {}
                    Condition::And(left, right) | Condition::Or(left, right) => {
                        conditions.extend([&**left, &**right]);
                    }
                    Condition::Not(inner) => conditions.push(inner),
                }
            }
        });
    }

    /// Number of nodes of the tree.
    pub fn size(&self) -> usize {
        let mut size = 0;
        self.walk(|_| size += 1);
        size
    }
}
