//! Random numbers that are the same everywhere.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Where inputs have their numbers from.
pub type Random = ChaCha8Rng;

/// The numbers of one input: those of training and of held-out inputs have no seed in common.
pub fn of_input(held_out: bool, at: usize) -> Random {
    Random::seed_from_u64((at as u64) << 1 | u64::from(held_out))
}

/// A size between two, each order of magnitude as likely.
pub fn size(random: &mut Random, least: usize, greatest: usize) -> usize {
    let (low, high) = ((least.max(1) as f64).ln(), (greatest.max(least).max(1) as f64).ln());
    (low + (high - low) * random.random_range(0.0..1.0)).exp().round() as usize
}
