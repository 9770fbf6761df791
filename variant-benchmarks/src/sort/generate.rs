//! Sequences of several kinds, by seed.

use super::keys::Keys;
use crate::random::Random;
use rand::Rng;

/// How keys are ordered before they are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Not at all.
    Uniform,
    /// From the greatest down.
    Reverse,
    /// Sorted, and 20 to 25 % of the keys swapped.
    AlmostSorted,
    /// Not at all, with at most a thousand different keys.
    FewValues,
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 4] = [Order::Uniform, Order::Reverse, Order::AlmostSorted, Order::FewValues];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Order::Uniform => "uniform",
            Order::Reverse => "reverse",
            Order::AlmostSorted => "almost sorted",
            Order::FewValues => "few values",
        }
    }

    /// Keys in this order, of 64 bits if `wide`.
    pub fn keys(self, count: usize, wide: bool, random: &mut Random) -> Keys {
        let mut ranks: Vec<f64> = match self {
            Order::FewValues => {
                let values = random.random_range(2..1000);
                (0..count).map(|_| f64::from(random.random_range(0..values))).collect()
            }
            _ => (0..count).map(|_| random.random_range(-1.0..1.0)).collect(),
        };
        match self {
            Order::Uniform | Order::FewValues => {}
            Order::Reverse => ranks.sort_unstable_by(|a, b| b.total_cmp(a)),
            Order::AlmostSorted => {
                ranks.sort_unstable_by(f64::total_cmp);
                // A swap moves two keys.
                let swaps = (count as f64 * random.random_range(0.1..0.125)) as usize;
                for _ in 0..swaps {
                    ranks.swap(random.random_range(0..count), random.random_range(0..count));
                }
            }
        }
        match wide {
            true => Keys::F64(ranks),
            false => Keys::F32(ranks.into_iter().map(|rank| rank as f32).collect()),
        }
    }
}
