//! What the strategy is called: by those, too, whom it does not suit, where it would help.

/// Its name.
pub(crate) const NAME: &str = "time-skewing";
