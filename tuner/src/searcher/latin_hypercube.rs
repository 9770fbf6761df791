//! Latin hypercube sampling (M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979).

use super::Searcher;
use crate::run::{Run, Stop};
use crate::space::{Point, Space};
use rand::Rng;
use rand::seq::SliceRandom;
use std::collections::HashSet;

/// One hypercube that leaves about as many valid points as the budget.
pub struct LatinHypercube;

impl Searcher for LatinHypercube {
    fn name(&self) -> &'static str {
        "lhs"
    }

    fn about(&self) -> &'static str {
        "a Latin hypercube over the ranges of all parameters; its points outside of the space are dropped"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let points = latin_hypercube(run.space, run.left(), &mut run.rng)?;
        run.measure(&points)?;
        Ok(())
    }
}

/// Most points of a hypercube, those included that are not valid.
const MOST: usize = 4_000_000;
/// Points that are tried to see how many are valid, and how many of them must be.
const TRIED: (usize, usize) = (20_000, 20);

/// At most `count` different valid points. Each range, from the first level to the last, is cut into strata that are
/// used once each, and a point is rounded to the nearest level, so that an inner level has twice the weight of one at
/// an end. Constraints drop points: the hypercube is so much larger that about `count` are left.
///
/// In a space so constrained that this cannot be, points are replaced by the valid one that differs in the fewest
/// levels, and then by the least steps, among 2000 at random. Points that meet count once, so that fewer than `count`
/// may come out.
///
/// # Errors
/// As [`Space::sample`].
pub fn latin_hypercube(space: &Space, count: usize, rng: &mut impl Rng) -> crate::Result<Vec<Point>> {
    let (tried, least) = TRIED;
    let valid = hypercube(space, tried, rng).iter().filter(|point| space.is_valid(point)).count();
    let mut seen = HashSet::new();
    if valid >= least {
        let size = (count as f64 * tried as f64 / valid as f64).ceil() as usize;
        let points = hypercube(space, size.min(MOST), rng).into_iter();
        return Ok(points
            .filter(|point| space.is_valid(point) && seen.insert(point.clone()))
            .take(count)
            .collect());
    }
    let pool = space.sample_distinct(2_000, rng)?;
    let moved = hypercube(space, count, rng)
        .into_iter()
        .filter_map(|wanted| if space.is_valid(&wanted) { Some(wanted) } else { nearest(&pool, &wanted) });
    Ok(moved.filter(|point| seen.insert(point.clone())).collect())
}

/// A Latin hypercube of any points, valid or not.
fn hypercube(space: &Space, size: usize, rng: &mut impl Rng) -> Vec<Point> {
    let mut columns: Vec<Vec<u32>> = Vec::new();
    for parameter in space.parameters() {
        let last = (parameter.len() - 1) as f64;
        let mut draw = |stratum: usize| {
            let place = (stratum as f64 + rng.random::<f64>()) / size as f64;
            (place * last).round() as u32
        };
        let mut column: Vec<u32> = (0..size).map(&mut draw).collect();
        column.shuffle(rng);
        columns.push(column);
    }
    (0..size).map(|index| Point::new(columns.iter().map(|column| column[index]).collect())).collect()
}

fn nearest(pool: &[Point], wanted: &Point) -> Option<Point> {
    let steps = |point: &Point| -> u64 {
        point.levels().iter().zip(wanted.levels()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
    };
    pool.iter().min_by_key(|point| (point.distance(wanted), steps(point))).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use trials::Parameter;
    use trials::Value;

    #[test]
    fn strata_are_used_once_and_points_are_valid() {
        let levels = |count: i64| (0..count).map(Value::Integer).collect();
        let parameters: Vec<Parameter> =
            ["a", "b", "c"].iter().map(|name| Parameter::new(*name, levels(11)).unwrap()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let space = Space::new(parameters.clone(), &[]).unwrap();
        let points = hypercube(&space, 40, &mut rng);
        for place in 0..3 {
            let at = |level: u32| points.iter().filter(|point| point.levels()[place] == level).count();
            assert!((at(0), at(10)) == (2, 2) && (1..10).all(|level| at(level) == 4));
        }
        let space = Space::new(parameters, &["a + b + c == 6".to_owned()]).unwrap();
        let points = latin_hypercube(&space, 12, &mut rng).unwrap();
        assert!((6..=12).contains(&points.len()) && points.iter().all(|point| space.is_valid(point)));
    }

    #[test]
    fn rare_points_are_reached_by_moving() {
        let levels = || (0..40).map(Value::Integer).collect();
        let parameters: Vec<Parameter> =
            (0..8).map(|place| Parameter::new(format!("p{place}"), levels()).unwrap()).collect();
        let constraints: Vec<String> = (1..8).map(|place| format!("p{place} == p{}", place - 1)).collect();
        let space = Space::new(parameters, &constraints).unwrap();
        let points = latin_hypercube(&space, 10, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        assert!(points.len() > 3 && points.iter().all(|point| space.is_valid(point)));
    }
}
