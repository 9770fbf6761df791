//! Witnesses: fields that say of each time step only whether some point has added something to them.
//!
//! ```text
//! w[t+1, s] = w[t, s] + v(t, s),   v >= 0 or no number
//! ```
//!
//! Nobody reads `w` but this. Where all that is wanted behind the steps is in which of them `v > 0` at some point, and in which a
//! `v` was no number, two numbers per step tell as much as an array does, and take no memory from the tiles.

use super::{KernelPlan, RowOrder, overwrite_what_they_read};
use polyhedral::program::{BinaryOp, Expr, ExprKind, FieldId, FieldRole, Program, Statement};

impl KernelPlan {
    /// The plan, in which those of some fields are witnesses that can be: an array remains of the others. Rows of a witness are
    /// computed by themselves, as they may end early: none of the statements that are joined reads what one before it stores, so that
    /// each may as well compute the whole box before the next one. Where its own sum was what a point could not be computed twice for,
    /// the others' points may be again.
    #[must_use]
    pub fn with_witnesses(mut self, fields: &[usize]) -> KernelPlan {
        let can_be = |&field: &usize| self.can_be_witness(FieldId(field));
        self.witnesses = fields.iter().copied().filter(can_be).collect();
        for kernel in 0..self.kernels.len() {
            let own: Vec<bool> = self.kernels[kernel]
                .instances
                .iter()
                .map(|row| self.computes_witness(row.statement))
                .collect();
            let instances = &mut self.kernels[kernel].instances;
            let next = instances.iter().map(|row| row.joined).skip(1).chain([false]);
            let were_joined: Vec<bool> =
                instances.iter().zip(next).map(|(row, next)| row.joined || next).collect();
            let rows = instances.iter_mut().enumerate();
            rows.filter(|(at, _)| own[*at] || *at > 0 && own[at - 1]).for_each(|(_, row)| row.joined = false);
            let mut were_joined = were_joined.into_iter();
            for rows in instances.chunk_by_mut(|_, next| next.joined) {
                let statements: Vec<usize> = rows.iter().map(|row| row.statement).collect();
                let own_repeats = !overwrite_what_they_read(&self.program, &statements);
                for (row, _) in rows.iter_mut().zip(were_joined.by_ref()).filter(|(_, were)| *were) {
                    if let RowOrder::Parallel { repeats } = &mut row.order {
                        *repeats = own_repeats;
                    }
                }
            }
        }
        self
    }

    /// Whether a statement computes a witness.
    pub fn computes_witness(&self, statement: usize) -> bool {
        self.witnesses.contains(&self.program.statements[statement].target.0)
    }

    fn can_be_witness(&self, field: FieldId) -> bool {
        let program = &*self.program;
        let one_slot = matches!(program.field(field).role, FieldRole::State { levels: 1, slots: 1 });
        one_slot
            && !program.is_periodic()
            && program.statements.iter().all(|statement| match statement.target == field {
                true => adds(statement),
                false => statement.reads.iter().all(|read| read.field != field),
            })
            && self.kernels.iter().all(|kernel| !kernel.in_parts())
    }
}

/// Whether a statement adds something to its own point, and reads its field nowhere else.
fn adds(statement: &Statement) -> bool {
    let own = |expr: &Expr| matches!(&expr.kind, ExprKind::Read(access) if access.field == statement.target);
    let mut reads = 0;
    statement.values().for_each(|value| value.walk(|part| reads += usize::from(own(part))));
    match &statement.value.kind {
        ExprKind::Binary(BinaryOp::Add, before, _) => match &before.kind {
            ExprKind::Read(access) => {
                reads == 1 && own(before) && access.time == 0 && access.offset.iter().all(|&by| by == 0)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether what a statement adds to a witness is a number for certain: a choice of values of the step and literals.
pub fn adds_numbers(program: &Program, statement: usize) -> bool {
    let ExprKind::Binary(_, _, added) = &program.statements[statement].value.kind else { return false };
    let number = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(value) if !value.is_nan());
    let step = |expr: &Expr| matches!(expr.kind, ExprKind::Series(..));
    match &added.kind {
        ExprKind::Select(_, then, otherwise) => (number(then) || step(then)) && number(otherwise),
        _ => false,
    }
}
