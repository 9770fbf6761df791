//! Who calls a library: anybody, or the library for ranks above it.

/// Who calls a library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    /// Anybody.
    Callers,
    /// A library for ranks.
    Ranks {
        /// Whether its boxes have bounds that move.
        moving: bool,
    },
}

impl Below {
    /// Whether boxes have bounds that move.
    pub(super) fn moves(self) -> bool {
        self == Below::Ranks { moving: true }
    }
}
