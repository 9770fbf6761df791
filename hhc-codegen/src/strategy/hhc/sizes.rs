//! Names of the tile sizes.

/// Name of the half height.
pub(super) const HEIGHT: &str = "st";

/// Name of the flat top, then of the classical sizes.
pub(super) const SPACE_SIZES: [&str; 3] = ["s0", "s1", "s2"];
