//! Which transfers a kernel has, and in which order.

use super::strips::Team;
use crate::int_expr::IntExpr;
use crate::storage::{Part, Supplier};

/// The transfers of a kernel, which are there as far as they are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Move {
    /// Boundary columns: those at the left or the right end of a strip, or wherever they are.
    Left,
    Right,
    Edges,
    /// A row behind the end of the band, or beside the domain.
    On,
    /// From the arrays into the first link; the level before it.
    Load,
    LoadBefore,
    /// From the arrays into the rows of a coefficient that all warps read, by its place among those that are read.
    Weigh(usize),
    /// From the link before the warp into its ring, and back into the one behind it.
    Receive,
    Send,
    /// The same of the level before.
    ReceiveBefore,
    SendBefore,
    /// From the last link into the arrays; the level before it.
    Store,
    StoreBefore,
}

impl Team<'_> {
    /// Its transfers, in order.
    pub(super) fn moves(&self) -> Vec<Move> {
        let (left, right) = self.reach[1];
        let is_there = |of: &Move| match of {
            Move::Left => !self.narrow && left > 0,
            Move::Right => !self.narrow && right > 0,
            Move::Edges => self.narrow,
            Move::LoadBefore | Move::ReceiveBefore | Move::SendBefore | Move::StoreBefore => {
                self.two_levels()
            }
            Move::On | Move::Load | Move::Weigh(_) | Move::Receive | Move::Send | Move::Store => true,
        };
        use Move::{
            Edges, Left, Load, LoadBefore, On, Receive, ReceiveBefore, Right, Send, SendBefore, Store,
            StoreBefore, Weigh,
        };
        let weights = (0..self.coefficients().len()).map(Weigh);
        let all = [
            Load,
            LoadBefore,
            Store,
            StoreBefore,
            Left,
            Right,
            Edges,
            On,
            Receive,
            ReceiveBefore,
            Send,
            SendBefore,
        ];
        weights.chain(all).filter(is_there).collect()
    }

    /// A transfer of the same kernel as a supplier.
    pub(super) fn moved(&self, of: Move, at: &[(&'static str, IntExpr)]) -> Option<Supplier> {
        let part = Part::transfer(&self.moves(), &of)?;
        Some(Supplier { kernel: None, part, at: at.to_vec() })
    }
}
