//! Uniform sampling.

use super::{Point, Space};
use crate::error::Result;
use rand::Rng;
use rand::seq::index;
use std::collections::HashSet;

impl Space {
    /// A valid point, each with the same probability.
    ///
    /// # Errors
    /// Where valid points are so rare that a limited search finds none.
    pub fn sample(&self, rng: &mut impl Rng) -> Result<Point> {
        if let Some(points) = self.points() {
            return Ok(points[rng.random_range(0..points.len())].clone());
        }
        let mut levels = vec![0; self.parameters().len()];
        for group in &self.groups {
            group.sample(self.parameters(), &mut levels, rng)?;
        }
        Ok(Point::new(levels))
    }

    /// Different valid points, `count` of them or all, uniformly without replacement.
    ///
    /// # Errors
    /// As [`Space::sample`].
    pub fn sample_distinct(&self, count: usize, rng: &mut impl Rng) -> Result<Vec<Point>> {
        if let Some(points) = self.points() {
            let chosen = index::sample(rng, points.len(), count.min(points.len()));
            return Ok(chosen.iter().map(|place| points[place].clone()).collect());
        }
        // The space is large, but constraints may leave few points: give up after many repeats in a row.
        let mut seen = HashSet::new();
        let mut points = Vec::with_capacity(count);
        let mut repeats = 0;
        while points.len() < count && repeats < 1_000 {
            let point = self.sample(rng)?;
            if seen.insert(point.clone()) {
                points.push(point);
                repeats = 0;
            } else {
                repeats += 1;
            }
        }
        Ok(points)
    }
}
