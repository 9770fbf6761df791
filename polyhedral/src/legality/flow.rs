//! Every value is where it is read, for plans whose blocks have storage of their own.
//!
//! With `V` an event, `q` the point of one of its reads, `S(V, q)` a supplier, and `<` the order in which events run
//! (host iteration, launch, then the place in the block's time; blocks of one launch are not ordered):
//!
//! - **inside**: every cell of a window that an event touches exists;
//! - **supplied**: for every `(V, q)` one of the suppliers exists, makes or moves the value that is read, leaves it in
//!   the cell that is read, and runs before `V`; or the value is an initial or a boundary value of the arrays;
//! - **kept**: no event `X` writes another value to that cell with `S(V, q) <= X <= V`;
//! - **apart**: no two events that run side by side write to one cell;
//! - **in turn**: to a cell of the arrays, values are written in order of their levels, after the reads of lower ones;
//! - **landed**: as many newest levels as there are slots are stored, each in the slot of its level.
//!
//! Junk, what lanes outside of all domains compute, is no value: it supplies nothing, is never written to the arrays, and
//! whatever it overwrites is lost.
//!
//! A boundary value is that of a class of levels: those that share a slot of the arrays, if boundaries belong to slots, and
//! all of them otherwise.
//!
//! Each statement is the emptiness of its negation. All reads of a level are looked at together, as the box of their
//! offsets, before each by itself; and first without the constraints that are seldom needed, such as those of the grid. Both only enlarge the
//! set that must be empty.

mod arrays;
pub mod bands;
mod cells;
mod events;
mod supply;
pub(super) mod text;

use super::{LegalityError, Problem};
use crate::dataflow::{Dataflow, Place, Reads, Region};
use crate::isl::Context;
use crate::program::Program;
use events::FlowProof;
use std::fmt;

/// What is wrong with the way of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowError {
    /// What is wrong.
    pub kind: FlowKind,
    /// The event.
    pub event: String,
    /// The other one, where there is one.
    pub other: Option<String>,
    /// The field and the level's place.
    pub value: String,
    /// Variables and their values in the counter-example, the point of the value last.
    pub at: Vec<(String, i64)>,
    /// The problem in which this happens.
    pub problem: Problem,
    /// Where nobody supplies a value: those that were to, and why each of them does not.
    pub suppliers: Vec<String>,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowKind {
    /// A cell does not exist.
    Outside,
    /// Nobody supplies a value that is read.
    NotSupplied,
    /// A supplier does not run before the reader.
    TooLate,
    /// Another value is written to the cell before the read.
    Overwritten,
    /// Two events write to one cell at once.
    Together,
    /// Values are written to a cell of the arrays out of turn.
    OutOfTurn,
    /// A newest level is not in its slot at the end.
    NotLanded,
}

impl fmt::Display for FlowError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlowError { kind, event, other, value, at, problem, suppliers } = self;
        let other = other.as_deref().unwrap_or_default();
        match kind {
            FlowKind::Outside => write!(formatter, "{event} touches {value} outside of {other}")?,
            FlowKind::NotSupplied => {
                write!(
                    formatter,
                    "{event} reads {value}, which none of the suppliers that it names has put there"
                )?;
            }
            FlowKind::TooLate => {
                write!(formatter, "{event} reads {value}, which {other} does not put there before")?;
            }
            FlowKind::Overwritten => {
                write!(formatter, "{event} reads {value} where {other} may have overwritten it")?;
            }
            FlowKind::Together => {
                write!(formatter, "{event} and {other} write to one cell of {value} at once")?;
            }
            FlowKind::OutOfTurn => {
                write!(formatter, "{other} overwrites {value} too early for {event}")?;
            }
            FlowKind::NotLanded => write!(formatter, "{event} leaves {value} in the wrong slot, or nowhere")?,
        }
        // p is the point of the event, q that of the value; `_w` marks what is the other event's, `_s` the supplier's.
        let at: Vec<String> = at.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        write!(formatter, " (at {}; problem: {problem})", at.join(", "))?;
        suppliers.iter().try_for_each(|supplier| write!(formatter, "\n  {supplier}"))
    }
}

/// Proves all of the above, where the facts of bands are proved; returns how many sets were shown to be empty.
pub fn proved(context: &Context, program: &Program, flow: &Dataflow) -> Result<usize, LegalityError> {
    match of_events(context, program, flow) {
        // The boxes of reads have points that no read has.
        Err(LegalityError::Flow(_)) => of_events(context, program, &flow.with_each_read()),
        other => other,
    }
}

fn of_events(context: &Context, program: &Program, flow: &Dataflow) -> Result<usize, LegalityError> {
    let proof = FlowProof::new(context, program, flow);
    for reader in &flow.events {
        proof.inside(reader)?;
        if matches!(reader.region, Region::Junk(_)) {
            continue;
        }
        // The arrays of a field that nobody writes have its values from the beginning.
        let known =
            |reads: &&Reads| proof.never_written(reads.field) && matches!(reads.place, Place::Arrays { .. });
        for reads in reader.reads.iter().filter(|reads| !known(reads)) {
            proof.supplied(reader, reads)?;
            if let Place::Storage(storage) = reads.place {
                proof.kept(reader, reads, storage)?;
            }
        }
    }
    for storage in 0..flow.storages.len() {
        proof.apart(storage)?;
    }
    proof.in_turn()?;
    proof.landed()?;
    Ok(proof.shown_empty())
}
