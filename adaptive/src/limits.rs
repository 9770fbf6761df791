//! How large a set of variants may be. Choosing works in arrays of these lengths, so that nothing is allocated.

/// Most variants of one function.
pub const MOST_VARIANTS: usize = 64;

/// Most features of one function.
pub const MOST_FEATURES: usize = 256;
