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
//! - **in slots**: the slots of the arrays that an event touches exist;
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
mod error;
mod events;
mod supply;
pub(super) mod text;
mod together;

use super::LegalityError;
use crate::dataflow::{Dataflow, Place, Reads, Region};
use crate::isl::Context;
use crate::program::Program;
pub use error::{FlowError, FlowKind};
use events::FlowProof;
use together::Together;

/// Proves all of the above, where the facts of bands are proved; returns how many sets were shown to be empty.
pub fn proved(context: &Context, program: &Program, flow: &Dataflow) -> Result<usize, LegalityError> {
    match of_events(context, program, flow) {
        // The boxes of reads have points that no read has.
        Err(LegalityError::Flow(_)) => of_events(context, program, &flow.with_each_read()),
        other => other,
    }
}

fn of_events(context: &Context, program: &Program, flow: &Dataflow) -> Result<usize, LegalityError> {
    let together = together::readers(&flow.events);
    let proof = FlowProof::new(context, program, flow);
    let mut kept = Vec::new();
    for Together { readers, event, reads } in &together {
        if let Place::Storage { index, copy } = &reads.place {
            match proof.kept(event, reads, (*index, copy)) {
                Ok(()) => kept.extend(readers),
                // What they have in common is more than what they do.
                Err(LegalityError::Flow(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    for (number, reader) in flow.events.iter().enumerate() {
        proof.inside(reader)?;
        if matches!(reader.region, Region::Junk(_)) {
            continue;
        }
        // The arrays of a field that nobody writes have its values from the beginning.
        let known =
            |reads: &&Reads| proof.never_written(reads.field) && matches!(reads.place, Place::Arrays { .. });
        for reads in reader.reads.iter().filter(|reads| !known(reads)) {
            proof.supplied(reader, reads)?;
            if let Place::Storage { index, copy } = &reads.place
                && !kept.contains(&number)
            {
                proof.kept(reader, reads, (*index, copy))?;
            }
        }
    }
    for storage in 0..flow.storages.len() {
        proof.apart(storage)?;
    }
    proof.slots_exist()?;
    proof.in_turn()?;
    proof.landed()?;
    Ok(proof.shown_empty())
}
