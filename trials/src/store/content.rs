//! What is in a store.

use crate::trial::Trial;
use safe_io::Damage;

/// What could be read of a store.
#[derive(Debug, Default)]
pub struct Content {
    /// The good trials, in the order in which they were added; rounds are apart.
    pub trials: Vec<Trial>,
    /// What is damaged, and left out.
    pub damage: Vec<Damage>,
}
