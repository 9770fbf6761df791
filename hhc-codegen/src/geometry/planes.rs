//! Planes: the stored time levels of the fields, one after the other.

use polyhedral::program::{FieldId, FieldRole, Program};

/// Position of the first plane of every field, and the number of planes at the end.
pub fn first_planes(program: &Program) -> Vec<usize> {
    let mut first = vec![0];
    for field in &program.fields {
        let planes = match field.role {
            FieldRole::State { slots, .. } => slots,
            FieldRole::Coefficient => 1,
        };
        first.push(first[first.len() - 1] + planes);
    }
    first
}

/// The plane of a time level, counted from local time 0: the slot that it would have if time began there.
pub fn plane_number(program: &Program, field: usize, level: i64) -> i64 {
    program.slot_of_level(FieldId(field), level) as i64
}
