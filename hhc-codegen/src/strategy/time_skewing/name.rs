//! What the strategy is called: by those, too, whom it does not suit, where it would help.

/// Its name.
pub(in crate::strategy) const NAME: &str = "time-skewing";
