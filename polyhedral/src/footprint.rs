//! Footprints: which values one point of a statement reads, as boxes of offsets.

use crate::program::{Access, FieldId, Program};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The reads of one field at one time level by one statement, and the smallest box around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessBox {
    /// Name of the field.
    pub field: String,
    /// Time level relative to `t`; 0 for coefficients.
    pub time: i64,
    /// Least offset per dimension, in points.
    pub low: Vec<i64>,
    /// Greatest offset per dimension, in points.
    pub high: Vec<i64>,
    /// Number of distinct offsets that are read, at most the box's number of points.
    pub reads: usize,
}

/// What one point of one statement touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatementFootprint {
    /// Name of the field that is written.
    pub target: String,
    /// The reads, by field and time level.
    pub boxes: Vec<AccessBox>,
    /// Number of distinct values read per point (its live-in words).
    pub values_read: usize,
}

/// What one point of one time step touches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Footprint {
    /// Per statement, in order of execution.
    pub statements: Vec<StatementFootprint>,
    /// Values that all statements together read per point, each counted once, those included that an
    /// earlier statement of the same step has computed.
    pub values_read: usize,
    /// Values written per point far from the boundary: one per statement that computes such points.
    pub values_written: usize,
}

/// The footprint of a program.
pub fn footprint(program: &Program) -> Footprint {
    let distinct: BTreeSet<&Access> =
        program.statements.iter().flat_map(|statement| &statement.reads).collect();
    Footprint {
        statements: (0..program.statements.len()).map(|k| of_statement(program, k)).collect(),
        values_read: distinct.len(),
        values_written: program.statements.iter().filter(|statement| statement.is_interior()).count(),
    }
}

fn of_statement(program: &Program, k: usize) -> StatementFootprint {
    let statement = &program.statements[k];
    let mut groups: BTreeMap<(FieldId, i64), BTreeSet<&[i64]>> = BTreeMap::new();
    for Access { field, time, offset } in &statement.reads {
        groups.entry((*field, *time)).or_default().insert(offset);
    }
    let boxes: Vec<AccessBox> = groups
        .into_iter()
        .map(|((field, time), offsets)| {
            let along = |i: usize| offsets.iter().map(move |offset| offset[i]);
            AccessBox {
                field: program.field(field).name.clone(),
                time,
                low: (0..program.dimension()).map(|i| along(i).min().unwrap_or(0)).collect(),
                high: (0..program.dimension()).map(|i| along(i).max().unwrap_or(0)).collect(),
                reads: offsets.len(),
            }
        })
        .collect();
    StatementFootprint {
        target: program.field(statement.target).name.clone(),
        values_read: boxes.iter().map(|access| access.reads).sum(),
        boxes,
    }
}
