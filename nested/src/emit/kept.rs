//! Where results of a row's blocks are kept, for a scan of the row.

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
