//! What `codesign` answers beside the study itself.

use optimizer::codesign::whatif;
use serde::Serialize;

/// Answers to the questions of chapters 5 and 6.
#[derive(Debug, Default, Serialize)]
pub struct Answers {
    /// What a little more of each resource is worth.
    pub shadow_prices: Vec<whatif::Shadow>,
    /// Shared-memory requirements.
    pub memory: Vec<whatif::MemoryWish>,
    /// Where the time goes.
    pub overhead: Vec<whatif::Overhead>,
    /// The effect of k.
    pub hyperthreading: Vec<whatif::Hyperthreading>,
    /// The best design with caches against the one without.
    pub caches: Option<whatif::Comparison>,
    /// Chips that exist against the best designs of their area.
    pub chips: Vec<whatif::Comparison>,
    /// The best designs of the paper's formulations that were asked for.
    pub formulations: Vec<whatif::Formulation>,
}
