//! Which transfers a kernel has, and in which order.

use super::blocks::Stream;
use crate::int_expr::IntExpr;
use crate::storage::{Part, Supplier};

/// The transfers of a kernel, which are there as far as they are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// The first rows of a slice, and the last ones, to where other warps find them.
    GiveFirst,
    GiveLast,
    /// The rows before a slice, and those behind it, from where other warps left them.
    TakeBefore,
    TakeBehind,
    /// Boundary columns: those at the left or the right end of a block.
    Left,
    Right,
    /// Boundary rows.
    Before,
    Behind,
    /// The boundary, wherever it is.
    Edges,
    /// A plane behind the end of the band, or beside the domain.
    On,
    /// From the feed into the ring.
    Enter,
    /// From the arrays into the feed.
    Load,
    Store,
}

impl<'a> Stream<'a> {
    /// Its transfers, in order.
    pub(super) fn moves(&self) -> Vec<Move> {
        let [_, (before, behind), (left, right)] = self.reach[..] else { return Vec::new() };
        let is_there = |of: &Move| match of {
            Move::TakeBefore | Move::GiveLast => self.across.is_some() && before > 0,
            Move::TakeBehind | Move::GiveFirst => self.across.is_some() && behind > 0,
            Move::Left => !self.narrow && left > 0,
            Move::Right => !self.narrow && right > 0,
            Move::Before => !self.narrow && before > 0,
            Move::Behind => !self.narrow && behind > 0,
            Move::Edges => self.narrow,
            Move::On | Move::Enter | Move::Load | Move::Store => true,
        };
        use Move::{
            Before, Behind, Edges, Enter, GiveFirst, GiveLast, Left, Load, On, Right, Store, TakeBefore,
            TakeBehind,
        };
        let all = [
            TakeBefore, TakeBehind, Enter, GiveFirst, GiveLast, Left, Right, Before, Behind, Edges, On, Load,
            Store,
        ];
        all.into_iter().filter(is_there).collect()
    }

    /// A transfer of the same kernel as a supplier.
    pub(super) fn moved(&self, of: Move, at: &[(&'static str, IntExpr)]) -> Option<Supplier> {
        let part = Part::transfer(&self.moves(), &of)?;
        Some(Supplier { kernel: None, part, at: at.to_vec() })
    }
}
