//! What strategies have in common whose lanes keep the values of all their steps in registers.

use super::bands::{self, Carried};
use super::tile_space::LARGEST_SIZE;
use crate::plan::decides_nothing;
use polyhedral::program::{
    Access, BinaryOp, Boundary, ElementType, ExprKind, FieldId, FieldRole, Program, Statement,
};

/// Whether one statement, the same at every step, computes one field from itself, one level back, and from coefficients.
///
/// # Errors
/// The reason for the refusal, as half a sentence.
pub fn one_statement(program: &Program) -> Result<(), String> {
    if program.statements.len() != 1 {
        return Err("each of its stages is one statement".to_owned());
    }
    same_at_every_step(program)?;
    bands::one_level_in_two_slots(program)
}

/// Whether statements, the same at every step, compute a field each from these fields, one level back or at the level that the step
/// computes, and from coefficients; one alone may read two levels back. What its bands carry.
///
/// # Errors
/// The reason for the refusal, as half a sentence.
pub fn statements_of_levels(program: &Program) -> Result<Carried, String> {
    same_at_every_step(program)?;
    let carried = bands::carried(program)?;
    if carried.levels > 1 && program.statements.len() > 1 {
        return Err("where steps read two levels, each of its stages is one statement".to_owned());
    }
    Ok(carried)
}

fn same_at_every_step(program: &Program) -> Result<(), String> {
    if !program.series.is_empty() {
        return Err("its stages have no values that change with time but the field's".to_owned());
    }
    if program.boundary == Boundary::PerSlot {
        return Err("a boundary that belongs to slots is not one for all stages".to_owned());
    }
    let computed = |field: FieldId| program.writers_of(field).next().is_some();
    let found =
        |read: &Access| computed(read.field) || program.field(read.field).role == FieldRole::Coefficient;
    let mut reads = program.statements.iter().flat_map(|statement| &statement.reads);
    if !reads.all(found) {
        return Err("it reads a field that no statement computes and that is no coefficient".to_owned());
    }
    let wide = |statement: &Statement| statement.domain.iter().all(|interval| interval.is_wide());
    if !program.statements.iter().all(wide) {
        return Err("its statement computes a few planes, rows or columns alone".to_owned());
    }
    Ok(())
}

/// What the statement of a program asks of a lane's registers.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Values take two registers.
    pub double: bool,
    /// Points between the farthest that are read on both sides, in the dimension in which they are most.
    pub wide: i64,
    /// Points are read that differ in two coordinates.
    pub diagonal: bool,
    /// Other fields are read.
    pub others: bool,
    /// It decides by values, or divides, which needs many registers besides the values.
    pub decides: bool,
    /// It needs many of them for one of these reasons.
    pub costly: bool,
}

impl Demand {
    /// That of the one statement of a program.
    pub fn of(program: &Program) -> Demand {
        let statement = &program.statements[0];
        let others = statement.reads.iter().any(|read| read.field != statement.target);
        let decides = !decides_nothing(program, 0) || divides(program);
        let off_axes = |read: &Access| read.offset.iter().filter(|&&at| at != 0).count() > 1;
        Demand {
            double: program.field(statement.target).element == ElementType::F64,
            wide: bands::reach(program).iter().map(|(low, high)| low + high).max().unwrap_or(0),
            diagonal: statement.reads.iter().any(off_axes),
            others,
            decides,
            costly: others || decides,
        }
    }
}

fn divides(program: &Program) -> bool {
    let statement = &program.statements[0];
    let mut divides = false;
    for value in statement.locals.iter().map(|local| &local.value).chain([&statement.value]) {
        value.walk(|expr| divides |= matches!(expr.kind, ExprKind::Binary(BinaryOp::Div, ..)));
    }
    divides
}

/// The length of the chunks of a stream over `extent` rows or planes, of which `side_by_side` lie beside each other: the least
/// time of all rounds of blocks, `at_once` at a time, where a block computes `more` positions besides its own.
///
/// ```text
/// ceil(side_by_side*chunks / at_once) * (ceil(extent/chunks) + more)
/// ```
///
/// At most `rounds` rounds are looked at.
pub fn chunk(extent: i64, side_by_side: i64, at_once: i64, rounds: i64, more: i64) -> i64 {
    let time = |chunks: i64| ceil_div(side_by_side * chunks, at_once) * (ceil_div(extent, chunks) + more);
    let most = ceil_div(rounds * at_once, side_by_side).min(extent).max(1);
    let chunks = (1..=most).min_by_key(|&chunks| time(chunks)).unwrap_or(1);
    ceil_div(extent, chunks).clamp(1, LARGEST_SIZE)
}

/// `ceil(a/b)`, where `b` counts at least one.
pub fn ceil_div(a: i64, b: i64) -> i64 {
    let b = b.max(1);
    (a + b - 1).div_euclid(b)
}
