//! Names of the tile sizes.

/// Names of the sizes of a block.
pub(super) const SIZES: [&str; 3] = ["s0", "s1", "s2"];
