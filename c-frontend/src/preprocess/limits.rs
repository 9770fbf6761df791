//! How large a program may be.

/// The largest file that is read, in bytes.
pub const MOST_BYTES: usize = 4 << 20;
/// The largest text that the preprocessor may make of it, without the system's headers.
pub const MOST_EXPANDED_BYTES: usize = 16 << 20;
