//! Windows hold what the arrays would hold, for kernels whose blocks keep a window of the arrays ([`crate::sweep`]).
//!
//! The schedule's proof shows that the rows are right if they work on the arrays: whatever a row reads, the last write
//! to that cell of the arrays in the order of execution made the value, and blocks of one launch neither write what
//! another one reads or writes. What is left to show is that a read of the window sees the cell of the arrays: a cell is
//! `(field, slot, point)`. With a sweep of positions `c = C .. C'`, `F(c)` the first point of the window, `E` its extents,
//! `s` its slide along the last dimension, and `k` the number of columns that stay:
//!
//! 1. **Places.** `|x_d| < E_d` and `sum of strides_d * x_d = 0` imply `x = 0`: two points of a plane have two cells. Group
//!    `m` uses plane `(m + shift) mod slots` for level `l`, and `first step + m + shift = l + levels - 1 (mod slots)`: so
//!    planes are slots, `(first step + plane) mod slots`, one for one.
//! 2. **Stays.** `F(c + 1) = F(c) + s` along the last dimension, `F(c + 1) = F(c)` along the others. A point that is in the
//!    window at `c` and `c + 1` lies at `c` in one of the columns `s .. s + k`, which move to `0 .. k`; and whatever lies
//!    in `0 .. k` at `c + 1` was in the window at `c`. By induction a point that is in the window at `c` has entered
//!    it at the least `e >= C` where it lies before its end, there in a column that is loaded (all of them at `C`, those
//!    from `k` on later), and has been in its cell ever since.
//! 3. **Inside.** The points that a row reads or writes are in the window.
//! 4. **Loads first.** No point that is in the window at `c` lies in a column that is loaded at a later position. So no load
//!    comes after a write of its cell in the sweep, or twice; and by 6 the arrays have, between sweeps, the last
//!    value of every cell. What is loaded is therefore what the arrays held when the sweep began, and what they
//!    should hold until the sweep writes. Loaded cells exist, and their points are on the grid.
//! 5. **Found.** If the last write to the cell that a row reads is of this sweep, its instance is known: that of the statement
//!    in whose domain the point is, one step before the level. It is of this sweep if its group exists, its time step exists,
//!    and its row has the point along all dimensions but the last (along the last one, the positions' parts of a row follow
//!    each other without gaps from one end of the domain to the other); then it is shown to come before the reader. For
//!    every read where it is not, the point is in a box that is loaded, on whichever way the position `e` loads: no pair
//!    `(read, e)` has neither.
//! 6. **Stored.** For every value that is left out, the same statement's row of the later group has the point, its time
//!    step exists, the group and a position of the sweep exist, and it writes to the same slot. Groups ascend, so
//!    that the last write to each cell in a sweep is stored.
//!
//! Full and clipped tiles are one: rows are clipped to the domains and to existing time steps, and the proof of full tiles
//! shows that this changes nothing there.
//!
//! Each statement is the emptiness of its negation. Sizes, numbers of steps, of blocks and of positions are unknown; windows
//! and boxes are constant relative to the position.

mod cells;
mod error;
mod found;
mod order;
mod proof;
mod stored;
mod words;

use super::LegalityError;
use crate::isl::Context;
use crate::program::Program;
use crate::sweep::Sweep;
pub use error::{WindowError, WindowKind};
use proof::WindowProof;

/// Proves all of the above; returns how many sets were shown to be empty.
pub fn proved(context: &Context, program: &Program, sweep: &Sweep) -> Result<usize, LegalityError> {
    well_formed(program, sweep)?;
    let proof = WindowProof::new(context, program, sweep)?;
    proof.places()?;
    for row in &sweep.rows {
        proof.planes(row)?;
        proof.inside(row)?;
    }
    proof.stays()?;
    proof.loads_first()?;
    for (at, row) in sweep.rows.iter().enumerate() {
        proof.without_gaps(row)?;
        proof.in_order(at, row)?;
        proof.found(row)?;
        proof.stored(row)?;
    }
    Ok(proof.space.shown_empty())
}

/// Whether everything has as many entries as the program says.
fn well_formed(program: &Program, sweep: &Sweep) -> Result<(), LegalityError> {
    let dimension = program.dimension();
    let window = &sweep.window;
    let of_boxes = dimension - usize::from(sweep.positions.is_some());
    let boxes = sweep.planes.iter().flat_map(|plane| {
        let clipped = plane.clipped.iter().flat_map(|live| live.usual.iter().chain(&live.early));
        plane.live_in.iter().chain(&plane.read).chain(clipped)
    });
    let fits = [window.first.len(), window.extent.len(), window.strides.len()] == [dimension; 3]
        && boxes.into_iter().all(|cells| cells.len() == of_boxes)
        && window.slide.is_some() == sweep.positions.is_some();
    let malformed =
        |piece: usize, message: &str| LegalityError::Malformed { piece, message: message.to_owned() };
    if !fits {
        return Err(malformed(0, &format!("the window of kernel {} has the wrong dimension", sweep.kernel)));
    }
    for (at, row) in sweep.rows.iter().enumerate() {
        let statement = program.statements.get(row.statement);
        let reads = statement.map(|statement| statement.reads.len());
        if reads != Some(row.reads.len()) || [row.lows.len(), row.highs.len()] != [dimension; 2] {
            return Err(malformed(at, "it does not say of every read in which plane of the window it is"));
        }
    }
    Ok(())
}
