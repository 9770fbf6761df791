//! Operation counts and compulsory traffic of a program.

use crate::arithmetic::Arithmetic;
use crate::math::Libm2;
use crate::program::{BinaryOp, Condition, Expr, ExprKind, FieldId, FieldRole, Function, Program, Statement};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// Number of operations of each kind. A local is computed once, however often it is used, and not at all
/// if the value does not depend on it. Both branches of a select count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Operations {
    /// `a + b`
    pub adds: usize,
    /// `a - b`
    pub subs: usize,
    /// `a * b`
    pub muls: usize,
    /// `a / b`
    pub divs: usize,
    /// Square roots.
    pub sqrts: usize,
    /// Exponentials.
    pub exps: usize,
    /// Absolute values.
    pub abs: usize,
    /// Minima and maxima.
    pub min_max: usize,
    /// Comparisons.
    pub compares: usize,
    /// `and`, `or`, `not` between truth values.
    pub logical: usize,
    /// `condition ? a : b`
    pub selects: usize,
    /// Functions of the C library, but for minima and maxima.
    pub libm: usize,
    /// Conversions between types.
    pub casts: usize,
    /// `-a`
    pub negations: usize,
    /// Sums and differences that code computes together with one of their products ([`crate::arithmetic`]).
    #[serde(skip)]
    pub fused: usize,
}

impl Operations {
    /// Floating-point operations: additions, subtractions, multiplications, divisions, square roots,
    /// exponentials, functions of the C library, minima and maxima, each counted as one. Sign changes, absolute values, conversions,
    /// comparisons and selects move or test bits and do not count.
    pub fn flops(&self) -> usize {
        self.adds + self.subs + self.muls + self.divs + self.sqrts + self.exps + self.libm + self.min_max
    }
}

impl AddAssign for Operations {
    fn add_assign(&mut self, other: Operations) {
        self.adds += other.adds;
        self.subs += other.subs;
        self.muls += other.muls;
        self.divs += other.divs;
        self.sqrts += other.sqrts;
        self.exps += other.exps;
        self.abs += other.abs;
        self.min_max += other.min_max;
        self.compares += other.compares;
        self.logical += other.logical;
        self.selects += other.selects;
        self.libm += other.libm;
        self.casts += other.casts;
        self.negations += other.negations;
        self.fused += other.fused;
    }
}

/// Work and traffic of one point in one time step, far from the boundary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counts {
    /// Operations per point, per statement in order of execution.
    pub statements: Vec<Operations>,
    /// Floating-point operations per point, per statement.
    pub statement_flops: Vec<usize>,
    /// Operations of all statements together, per point and step.
    pub operations: Operations,
    /// Floating-point operations per point and step.
    pub flops: usize,
    /// Bytes per point and step that no schedule of a single time step can avoid: one read of each
    /// distinct field level that exists before the step, one write of each state field.
    pub bytes: usize,
    /// Bytes per point and step if each statement is a sweep of its own over memory: for each statement
    /// one read of each distinct field level it uses, and one write.
    pub sweep_bytes: usize,
    /// `flops / bytes`, in flop per byte.
    pub intensity: f64,
}

/// The counts of a program. Statements of single rows or faces are listed, but only those that compute points far
/// from the boundary count in the sums (all, where there is none).
pub fn counts(program: &Program) -> Counts {
    let of = |statement: &Statement| operations(statement, program.arithmetic);
    let statements: Vec<_> = program.statements.iter().map(of).collect();
    let none = !program.statements.iter().any(Statement::is_interior);
    let interior = || program.statements.iter().filter(move |statement| none || statement.is_interior());
    let mut sum = Operations::default();
    for (statement, &operations) in program.statements.iter().zip(&statements) {
        if none || statement.is_interior() {
            sum += operations;
        }
    }

    let written: usize = interior().map(|statement| bytes_of(program, statement.target)).sum();
    let read = |levels: BTreeSet<(FieldId, i64)>| -> usize {
        levels.into_iter().map(|(field, _)| bytes_of(program, field)).sum()
    };
    let before_step = interior().flat_map(levels).filter(|&(field, time)| {
        // Level 1 is computed by this very step.
        time < 1 || program.field(field).role == FieldRole::Coefficient
    });
    let bytes = written + read(before_step.collect());
    let sweep_bytes = written + interior().map(|statement| read(levels(statement).collect())).sum::<usize>();
    Counts {
        statement_flops: statements.iter().map(Operations::flops).collect(),
        statements,
        operations: sum,
        flops: sum.flops(),
        bytes,
        sweep_bytes,
        intensity: sum.flops() as f64 / bytes as f64,
    }
}

fn bytes_of(program: &Program, field: FieldId) -> usize {
    program.field(field).element.bytes()
}

/// The field levels that a statement reads.
fn levels(statement: &Statement) -> impl Iterator<Item = (FieldId, i64)> + '_ {
    statement.reads.iter().map(|access| (access.field, access.time))
}

fn operations(statement: &Statement, arithmetic: Arithmetic) -> Operations {
    let mut sum = Operations::default();
    let mut used = vec![false; statement.locals.len()];
    count(&statement.value, arithmetic, &mut sum, &mut used);
    // A local uses earlier locals only.
    for (index, local) in statement.locals.iter().enumerate().rev() {
        if used[index] {
            count(&local.value, arithmetic, &mut sum, &mut used);
        }
    }
    sum
}

/// Adds the operations of one expression and marks the locals that it uses.
fn count(expr: &Expr, arithmetic: Arithmetic, sum: &mut Operations, used: &mut [bool]) {
    expr.walk(|expr| sum.fused += usize::from(arithmetic.fused(expr).is_some()));
    expr.walk(|expr| match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Read(_) | ExprKind::Series(..) => {}
        ExprKind::Local(local) => used[local.0] = true,
        ExprKind::Negate(_) => sum.negations += 1,
        ExprKind::Cast(_) => sum.casts += 1,
        ExprKind::Binary(operation, ..) => match operation {
            BinaryOp::Add => sum.adds += 1,
            BinaryOp::Sub => sum.subs += 1,
            BinaryOp::Mul => sum.muls += 1,
            BinaryOp::Div => sum.divs += 1,
            BinaryOp::Min | BinaryOp::Max | BinaryOp::Libm(Libm2::Fmin | Libm2::Fmax) => sum.min_max += 1,
            BinaryOp::Libm(_) => sum.libm += 1,
        },
        ExprKind::Call(function, _) => match function {
            Function::Sqrt => sum.sqrts += 1,
            Function::Exp => sum.exps += 1,
            Function::Abs => sum.abs += 1,
            Function::Square => sum.muls += 1,
            Function::Libm(_) => sum.libm += 1,
        },
        ExprKind::Select(condition, ..) => {
            sum.selects += 1;
            // The compared expressions are visited by the walk itself.
            let mut conditions = vec![&**condition];
            while let Some(condition) = conditions.pop() {
                match condition {
                    Condition::Compare(..) | Condition::Congruent(_) => sum.compares += 1,
                    Condition::And(left, right) | Condition::Or(left, right) => {
                        sum.logical += 1;
                        conditions.extend([&**left, &**right]);
                    }
                    Condition::Not(inner) => {
                        sum.logical += 1;
                        conditions.push(inner);
                    }
                }
            }
        }
    });
}
