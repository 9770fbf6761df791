//! How many blocks of a kernel shall be on a multiprocessor at a time.

/// Blocks that shall fit in the registers of a multiprocessor: of all devices, or fewer of those that do not copy in the background, where
/// registers have what is copied meanwhile.
pub(super) struct Blocks {
    pub(super) most: i64,
    pub(super) without_copies: i64,
}

impl Blocks {
    /// The same for all devices.
    pub(super) fn all(most: i64) -> Blocks {
        Blocks { most, without_copies: most }
    }

    /// The second argument of `__launch_bounds__`.
    pub(super) fn text(&self) -> String {
        match self {
            Blocks { most, without_copies } if most == without_copies => most.to_string(),
            Blocks { most, without_copies } => format!("TW_BLOCKS({most}, {without_copies})"),
        }
    }
}
