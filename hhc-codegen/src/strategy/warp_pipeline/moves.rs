//! Which transfers a kernel has, and in which order.

use super::strips::Team;
use crate::int_expr::IntExpr;
use crate::storage::{Part, Supplier};

/// The transfers of a kernel, which are there as far as they are needed; those of a field by its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Boundary columns: those at the left or the right end of a strip, or wherever they are.
    Left(usize),
    Right(usize),
    Edges(usize),
    /// A row behind the end of the band, or beside the domain.
    On(usize),
    /// From the arrays into the first link; the level before it.
    Load(usize),
    LoadBefore(usize),
    /// From the arrays into the rows of a coefficient that all warps read, by its place among those that are read.
    Weigh(usize),
    /// From the link before the warp into its ring, and back into the one behind it.
    Receive(usize),
    Send(usize),
    /// The same of the level before.
    ReceiveBefore(usize),
    SendBefore(usize),
    /// From the last link into the arrays; the level before it.
    Store(usize),
    StoreBefore(usize),
}

/// A move of the field of a statement.
type OfField = fn(usize) -> Move;

/// What moves of each field, all fields one after the other.
const BY_FIELD: [&[OfField]; 5] = [
    &[Move::Load, Move::LoadBefore],
    &[Move::Store, Move::StoreBefore],
    &[Move::Left, Move::Right, Move::Edges, Move::On],
    &[Move::Receive, Move::ReceiveBefore],
    &[Move::Send, Move::SendBefore],
];

impl Team<'_> {
    /// Its transfers, in order.
    pub(super) fn moves(&self) -> Vec<Move> {
        let is_there = |of: &Move| match *of {
            Move::Left(statement) => !self.narrow && self.boundary(statement).0 > 0,
            Move::Right(statement) => !self.narrow && self.boundary(statement).1 > 0,
            Move::Edges(_) => self.narrow,
            Move::LoadBefore(_) | Move::ReceiveBefore(_) | Move::SendBefore(_) | Move::StoreBefore(_) => {
                self.two_levels()
            }
            Move::On(_)
            | Move::Load(_)
            | Move::Weigh(_)
            | Move::Receive(_)
            | Move::Send(_)
            | Move::Store(_) => true,
        };
        let weights = (0..self.coefficients().len()).map(Move::Weigh);
        let of_fields = BY_FIELD.iter().flat_map(|moves| {
            (0..self.statements()).flat_map(|statement| moves.iter().map(move |of| of(statement)))
        });
        weights.chain(of_fields).filter(is_there).collect()
    }

    /// A transfer of the same kernel as a supplier.
    pub(super) fn moved(&self, of: Move, at: &[(&'static str, IntExpr)]) -> Option<Supplier> {
        let part = Part::transfer(&self.moves(), &of)?;
        Some(Supplier { kernel: None, part, at: at.to_vec() })
    }
}
