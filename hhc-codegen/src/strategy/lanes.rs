//! What strategies have in common whose lanes keep the values of all their steps in registers.

use super::bands;
use super::tile_space::LARGEST_SIZE;
use crate::plan::decides_nothing;
use polyhedral::program::{Access, BinaryOp, Boundary, ElementType, ExprKind, FieldRole, Program};

/// Whether one statement, the same at every step, computes one field from itself, one level back, and from coefficients.
///
/// # Errors
/// The reason for the refusal, as half a sentence.
pub fn one_statement(program: &Program) -> Result<(), String> {
    one_statement_of_levels(program)?;
    bands::one_level_in_two_slots(program)
}

/// The same from one level back or two; how many levels its bands read.
///
/// # Errors
/// The reason for the refusal, as half a sentence.
pub fn one_statement_of_levels(program: &Program) -> Result<i64, String> {
    if program.statements.len() != 1 {
        return Err("each of its stages is one statement".to_owned());
    }
    if !program.series.is_empty() {
        return Err("its stages have no values that change with time but the field's".to_owned());
    }
    if program.boundary == Boundary::PerSlot {
        return Err("a boundary that belongs to slots is not one for all stages".to_owned());
    }
    let statement = &program.statements[0];
    let reads = |read: &Access| {
        read.field == statement.target || program.field(read.field).role == FieldRole::Coefficient
    };
    if !statement.reads.iter().all(reads) {
        return Err("it reads a field that no statement computes and that is no coefficient".to_owned());
    }
    if !statement.domain.iter().all(|interval| interval.is_wide()) {
        return Err("its statement computes a few planes, rows or columns alone".to_owned());
    }
    bands::levels_of_bands(program)
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
