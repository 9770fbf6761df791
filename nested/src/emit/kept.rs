//! Where results of blocks are kept, for a scan of them: those of a row, and those of the next share of a thread.

use super::view::At;
use c_tree::Expr as C;

/// Where results of blocks are kept.
#[derive(Clone)]
pub struct RowBlocks {
    /// One array, for results of one number.
    pub values: C,
    /// The place of the row's first block.
    pub first: C,
    /// Whether the array has room for all blocks of these rows.
    pub fits: C,
    /// Whether they were kept when the share before was scanned, where that may be.
    pub folded: Option<C>,
    /// Whether a reduction has kept them.
    pub kept: bool,
}

/// Room for the results of a thread's blocks: those of this share, and those of the next one, in turn.
#[derive(Clone)]
pub struct Sides {
    pub(super) values: C,
    pub(super) room: i64,
    pub(super) side: C,
    pub(super) folded: C,
}

impl Sides {
    /// Where the results of this share's blocks begin.
    pub fn own(&self) -> C {
        self.side.clone()
    }

    /// The array.
    pub fn values(&self) -> C {
        self.values.clone()
    }

    /// Whether this share was folded before.
    pub fn is_folded(&self) -> C {
        self.folded.clone().gt(0)
    }
}

/// The next share.
pub struct Next<'p, E> {
    /// Room for results.
    pub sides: Sides,
    /// Whether there is a next share, and both are whole.
    pub more: C,
    /// Where the share at hand begins.
    pub origin: C,
    /// Elements of the next share, by their places in this one.
    pub at: At<'p, E>,
    /// Whether there is code that folds it.
    pub done: bool,
}
