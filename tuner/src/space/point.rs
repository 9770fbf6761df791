//! Points: which level each parameter has.

use serde::{Deserialize, Serialize};

/// For each parameter of a space the index of its level. Points of one space are ordered and hashed by these.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Point(Box<[u32]>);

impl Point {
    /// The point of these levels.
    pub fn new(levels: Vec<u32>) -> Point {
        Point(levels.into())
    }

    /// The levels, in the order of the parameters.
    pub fn levels(&self) -> &[u32] {
        &self.0
    }

    /// The same point but for one level.
    pub fn with(&self, place: usize, level: u32) -> Point {
        let mut point = self.clone();
        point.0[place] = level;
        point
    }

    /// The same point but for the levels of some parameters.
    pub fn with_all(&self, places: &[usize], levels: &[u32]) -> Point {
        let mut point = self.clone();
        places.iter().zip(levels).for_each(|(&place, &level)| point.0[place] = level);
        point
    }

    /// Number of parameters in which two points of one space differ.
    pub fn distance(&self, other: &Point) -> usize {
        self.0.iter().zip(&other.0).filter(|(left, right)| left != right).count()
    }
}
