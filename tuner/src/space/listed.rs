//! The valid points of a space, as a list with an index.

use super::point::Point;
use std::collections::HashSet;
use trials::Parameter;

/// Points and what is needed to look them up.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    points: Vec<Point>,
    index: Index,
}

#[derive(Debug, Clone)]
enum Index {
    /// One bit per combination of levels, in mixed radix, for spaces that are dense enough.
    Bits {
        strides: Vec<u64>,
        bits: Vec<u64>,
    },
    Hashed(HashSet<Point>),
}

/// Most combinations for which bits are kept: 16 MiB.
const MOST_BITS: f64 = (1u64 << 27) as f64;

impl Listed {
    /// A list of different points that fit the parameters.
    pub fn new(points: Vec<Point>, parameters: &[Parameter]) -> Listed {
        let size: f64 = parameters.iter().map(|parameter| parameter.len() as f64).product();
        if size > MOST_BITS {
            return Listed { index: Index::Hashed(points.iter().cloned().collect()), points };
        }
        let mut stride = 1;
        let strides: Vec<u64> = parameters
            .iter()
            .map(|parameter| {
                let own = stride;
                stride *= parameter.len() as u64;
                own
            })
            .collect();
        let mut bits = vec![0u64; (stride as usize).div_ceil(64)];
        for point in &points {
            let place = place(&strides, point);
            bits[(place / 64) as usize] |= 1 << (place % 64);
        }
        Listed { points, index: Index::Bits { strides, bits } }
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Whether a point that fits the parameters is in the list.
    pub fn contains(&self, point: &Point) -> bool {
        match &self.index {
            Index::Bits { strides, bits } => {
                let place = place(strides, point);
                bits.get((place / 64) as usize).is_some_and(|word| word >> (place % 64) & 1 == 1)
            }
            Index::Hashed(points) => points.contains(point),
        }
    }
}

fn place(strides: &[u64], point: &Point) -> u64 {
    point.levels().iter().zip(strides).map(|(&level, stride)| u64::from(level) * stride).sum()
}
