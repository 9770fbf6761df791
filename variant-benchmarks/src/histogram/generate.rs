//! Values of several kinds, by seed.

use crate::benchmark::Family;
use crate::random::Random;
use rand::Rng;

/// A kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All bins alike.
    Uniform,
    /// Most near one bin.
    Normal,
    /// One value nearly everywhere.
    Constant,
    /// Like the grey levels of a photograph: they change slowly, with noise.
    Image,
    /// Long runs of one value each.
    Stripes,
}

impl Family for Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Uniform => "uniform",
            Kind::Normal => "normal",
            Kind::Constant => "constant",
            Kind::Image => "image",
            Kind::Stripes => "stripes",
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Uniform, Kind::Normal, Kind::Constant, Kind::Image, Kind::Stripes];

    /// Values for so many bins, of which there are 1 to 65536.
    pub fn values(self, count: usize, bins: usize, random: &mut Random) -> Vec<u16> {
        let greatest = bins as f64 - 1.0;
        let bin = |value: f64| value.clamp(0.0, greatest) as u16;
        let any = |random: &mut Random| random.random_range(0..bins) as u16;
        match self {
            Kind::Uniform => (0..count).map(|_| any(random)).collect(),
            Kind::Normal => {
                let (mean, width) = (random.random_range(0.0..=greatest), random.random_range(0.001..0.2));
                // The sum of four is nearly normal.
                let normal =
                    |random: &mut Random| (0..4).map(|_| random.random_range(-1.0..1.0)).sum::<f64>();
                (0..count).map(|_| bin(mean + width * greatest * normal(random))).collect()
            }
            Kind::Constant => {
                let (value, share) = (any(random), random.random_range(0.0..0.1));
                (0..count).map(|_| if random.random_bool(share) { any(random) } else { value }).collect()
            }
            Kind::Image => {
                let (mut level, step) = (greatest / 2.0, random.random_range(0.001..0.05) * greatest);
                let mut next = || {
                    level = (level + random.random_range(-step..=step)).clamp(0.0, greatest);
                    bin(level)
                };
                (0..count).map(|_| next()).collect()
            }
            Kind::Stripes => {
                let length = random.random_range(16..4096);
                let mut value = 0;
                let mut next = |at: usize| {
                    value = if at.is_multiple_of(length) { any(random) } else { value };
                    value
                };
                (0..count).map(&mut next).collect()
            }
        }
    }
}
