//! Who calls a library: anybody, the library for ranks above it, or who times it.

/// Who calls a library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Below {
    /// Anybody.
    Callers,
    /// Who times it for a moment, by `NAME_invoke` alone.
    Timing,
    /// A library for ranks.
    Ranks {
        /// Whether its boxes have bounds that move.
        moving: bool,
    },
}

impl Below {
    /// Whether it is a library for ranks.
    pub(super) fn is_of_ranks(self) -> bool {
        matches!(self, Below::Ranks { .. })
    }

    /// Whether boxes have bounds that move.
    pub(super) fn moves(self) -> bool {
        self == Below::Ranks { moving: true }
    }
}
