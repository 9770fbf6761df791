//! Uniform sampling.

use super::{Point, Space};
use crate::error::Result;
use rand::Rng;
use rand::seq::index;
use std::collections::HashSet;

/// A valid point, each with the same probability.
pub(super) fn one(space: &Space, rng: &mut impl Rng) -> Result<Point> {
    if let Some(points) = space.points() {
        return Ok(points[rng.random_range(0..points.len())].clone());
    }
    let mut levels = vec![0; space.parameters().len()];
    for group in &space.groups {
        group.sample(space.parameters(), &mut levels, rng)?;
    }
    Ok(Point::new(levels))
}

/// Different valid points, as many as there are up to `count`, in random order.
pub(super) fn distinct(space: &Space, count: usize, rng: &mut impl Rng) -> Result<Vec<Point>> {
    if let Some(points) = space.points() {
        let chosen = index::sample(rng, points.len(), count.min(points.len()));
        return Ok(chosen.iter().map(|place| points[place].clone()).collect());
    }
    // The space is large, but constraints may leave few points: give up after many repeats in a row.
    let mut seen = HashSet::new();
    let mut points = Vec::with_capacity(count);
    let mut repeats = 0;
    while points.len() < count && repeats < 1_000 {
        let point = one(space, rng)?;
        if seen.insert(point.clone()) {
            points.push(point);
            repeats = 0;
        } else {
            repeats += 1;
        }
    }
    Ok(points)
}
