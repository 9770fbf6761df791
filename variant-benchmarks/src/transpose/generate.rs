//! Shapes of several kinds, by seed.

use crate::benchmark::Family;
use crate::random::{Random, size};
use rand::Rng;

/// Elements of the smallest matrices: fewer are moved sooner than anything is chosen.
const LEAST: usize = 50_000;

/// A kind of shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rows and columns of like number.
    Square,
    /// Any numbers.
    Any,
    /// At most 32 columns.
    Tall,
    /// At most 32 rows.
    Wide,
    /// Powers of two, which share sets of the caches.
    PowersOfTwo,
}

impl Family for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Square => "square",
            Kind::Any => "any",
            Kind::Tall => "tall",
            Kind::Wide => "wide",
            Kind::PowersOfTwo => "powers of two",
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Square, Kind::Any, Kind::Tall, Kind::Wide, Kind::PowersOfTwo];

    /// Rows, columns, and whether rows lie one after the other.
    pub fn shape(self, largest: usize, random: &mut Random) -> (usize, usize, bool) {
        let count = size(random, LEAST.min(largest), largest);
        let few = random.random_range(2..=32_usize);
        let side = (count as f64).sqrt() as usize;
        let (rows, columns) = match self {
            Kind::Square => (side, random.random_range(side * 3 / 4..=side + side / 4)),
            Kind::Any => {
                let rows = size(random, 1, count);
                (rows, count / rows)
            }
            Kind::Tall => (count / few, few),
            Kind::Wide => (few, count / few),
            Kind::PowersOfTwo => {
                let bits = count.max(2).ilog2();
                let own = random.random_range(0..=bits);
                (1 << own, 1 << (bits - own))
            }
        };
        (rows.max(1), columns.max(1), random.random_bool(0.5))
    }
}
