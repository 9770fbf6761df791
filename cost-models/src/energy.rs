//! Energy and power.
//!
//! ```text
//! E = e_glob*words_global + e_shared*words_fast + e_iter*iterations + e_sync*barriers + e_launch*N_w + P_static*T
//! power = E / T
//! ```
//!
//! (paper, section 3.2: linear in counts of events; the time is the modelled or a measured one, so that the two models
//! stay apart.) Words and barriers are those of full tiles, iterations those that really run, copies included.

use crate::constants::EnergyConstants;
use hhc_codegen::counts::TileCounts;
use serde::Serialize;

/// Where the energy goes, in joules.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct EnergyTerms {
    /// Words between memory and the multiprocessors.
    pub global: f64,
    /// Words from and to fast memory.
    pub shared: f64,
    /// Iterations.
    pub iterations: f64,
    /// Barriers.
    pub barriers: f64,
    /// Launches.
    pub launches: f64,
    /// What flows whatever happens.
    pub fixed: f64,
}

impl EnergyTerms {
    /// All of them, in joules.
    pub fn sum(&self) -> f64 {
        self.global + self.shared + self.iterations + self.barriers + self.launches + self.fixed
    }
}

/// The energy of an execution of `seconds`, but for [`EnergyTerms::fixed`] over all `counts` (one entry per statement
/// where statements have tiles of their own).
pub fn energy(counts: &[TileCounts], constants: &EnergyConstants, seconds: f64) -> EnergyTerms {
    let mut terms = EnergyTerms { fixed: constants.p_static_w * seconds, ..EnergyTerms::default() };
    for counts in counts {
        let dynamic = dynamic(counts, constants);
        terms.global += dynamic.global;
        terms.shared += dynamic.shared;
        terms.iterations += dynamic.iterations;
        terms.barriers += dynamic.barriers;
        terms.launches += dynamic.launches;
    }
    terms
}

/// The part of the energy that does not depend on time.
#[inline]
pub fn dynamic(counts: &TileCounts, constants: &EnergyConstants) -> EnergyTerms {
    let per_iteration = counts.fast_words as f64 / counts.iterations.max(1) as f64;
    EnergyTerms {
        global: constants.e_glob_j * counts.total_words(),
        shared: constants.e_shared_j * per_iteration * counts.total_iterations as f64,
        iterations: constants.e_iter_j * counts.computed_iterations(),
        barriers: constants.e_sync_j * counts.total_barriers(),
        launches: constants.e_launch_j * counts.wavefronts as f64,
        fixed: 0.0,
    }
}
