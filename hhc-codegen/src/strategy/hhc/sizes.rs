//! Names of the tile sizes.

/// Name of the half height.
pub(super) const HEIGHT: &str = "st";

/// Name of the flat top, then of the classical sizes.
pub(super) const SPACE_SIZES: [&str; 3] = ["s0", "s1", "s2"];

/// Name of the time steps that are swept together.
pub(super) const FUSED_STEPS: &str = "f";

/// Name of the length of a wavefront along dimension 0.
pub(super) const WAVE: &str = "r";
