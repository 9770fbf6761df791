//! Latin hypercube sampling (M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979).

use super::Searcher;
use crate::run::{Run, Stop};
use crate::space::{Point, Space};
use rand::Rng;
use rand::seq::SliceRandom;
use std::collections::HashSet;

/// One stratum of every parameter for each point of the budget.
pub struct LatinHypercube;

impl Searcher for LatinHypercube {
    fn name(&self) -> &'static str {
        "lhs"
    }

    fn about(&self) -> &'static str {
        "a Latin hypercube with as many points as the budget; points outside of the space move to a near valid one"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let points = latin_hypercube(run.space, run.left(), &mut run.rng)?;
        run.measure(&points)?;
        Ok(())
    }
}

/// At most `count` different valid points: in each parameter the range of levels is cut into `count` strata, and each
/// stratum is used once. Constraints break that as little as possible: a point that is not valid is replaced by the
/// valid one that differs in the fewest levels, and then by the least steps, among 2000 at random; points that meet
/// count once, so that fewer than `count` may come out.
///
/// # Errors
/// As [`Space::sample`].
pub fn latin_hypercube(space: &Space, count: usize, rng: &mut impl Rng) -> crate::Result<Vec<Point>> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    for parameter in space.parameters() {
        let levels = parameter.len() as f64;
        let stratum = |index: usize| (index as f64 + 0.5) / count as f64 * levels;
        let mut column: Vec<u32> = (0..count).map(|index| stratum(index) as u32).collect();
        column.shuffle(rng);
        columns.push(column);
    }
    let mut chosen = Vec::with_capacity(count);
    let mut seen = HashSet::new();
    let pool = space.sample_distinct(2_000, rng)?;
    for index in 0..count {
        let wanted = Point::new(columns.iter().map(|column| column[index]).collect());
        let point = if space.is_valid(&wanted) { Some(wanted) } else { nearest(&pool, &wanted) };
        if let Some(point) = point
            && seen.insert(point.clone())
        {
            chosen.push(point);
        }
    }
    Ok(chosen)
}

fn nearest(pool: &[Point], wanted: &Point) -> Option<Point> {
    let steps = |point: &Point| -> u64 {
        point.levels().iter().zip(wanted.levels()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
    };
    pool.iter().min_by_key(|point| (point.distance(wanted), steps(point))).cloned()
}
