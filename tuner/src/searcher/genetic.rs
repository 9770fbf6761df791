//! A genetic algorithm (J. H. Holland, Adaptation in Natural and Artificial Systems, 1975), with tournaments, uniform
//! crossover and the best kept.

use super::Searcher;
use crate::run::{Run, Stop};
use crate::space::{Point, Space};
use rand::Rng;
use std::cmp::Ordering;

/// Generations of points; failed ones are the least fit.
pub struct Genetic {
    /// Points of a generation.
    pub population: usize,
    /// Points that go over unchanged.
    pub elite: usize,
    /// Points among which a parent is the best.
    pub tournament: usize,
    /// Probability that a parameter of a child is drawn anew.
    pub mutation: f64,
}

impl Default for Genetic {
    fn default() -> Self {
        Genetic { population: 24, elite: 1, tournament: 2, mutation: 0.1 }
    }
}

/// A failed trial is behind every other.
fn order(left: &Option<f64>, right: &Option<f64>) -> Ordering {
    left.unwrap_or(f64::INFINITY).total_cmp(&right.unwrap_or(f64::INFINITY))
}

impl Searcher for Genetic {
    fn name(&self) -> &'static str {
        "genetic"
    }

    fn about(&self) -> &'static str {
        "a genetic algorithm: tournaments, uniform crossover, mutation, the best kept"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let points = run.space.sample_distinct(self.population, &mut run.rng)?;
        let responses = run.measure(&points)?;
        let mut generation: Vec<(Point, Option<f64>)> = points.into_iter().zip(responses).collect();
        loop {
            generation.sort_by(|left, right| order(&left.1, &right.1));
            let mut children: Vec<Point> =
                generation.iter().take(self.elite).map(|(point, _)| point.clone()).collect();
            while children.len() < self.population {
                let mother = self.parent(&generation, &mut run.rng).clone();
                let father = self.parent(&generation, &mut run.rng).clone();
                let child = self.child(run.space, &mother, &father, &mut run.rng)?;
                children.push(child);
            }
            let responses = run.measure(&children)?;
            generation = children.into_iter().zip(responses).collect();
        }
    }
}

impl Genetic {
    /// The best of a few, in a sorted generation the one with the lowest place.
    fn parent<'a>(&self, generation: &'a [(Point, Option<f64>)], rng: &mut impl Rng) -> &'a Point {
        let place = (0..self.tournament).map(|_| rng.random_range(0..generation.len())).min().unwrap_or(0);
        &generation[place].0
    }

    /// Each level from one of the parents, some drawn anew; where no such point is valid, a random one.
    fn child(
        &self,
        space: &Space,
        mother: &Point,
        father: &Point,
        rng: &mut impl Rng,
    ) -> crate::Result<Point> {
        for _ in 0..200 {
            let levels = space.parameters().iter().enumerate().map(|(place, parameter)| {
                if rng.random_bool(self.mutation) {
                    rng.random_range(0..parameter.len() as u32)
                } else if rng.random_bool(0.5) {
                    mother.levels()[place]
                } else {
                    father.levels()[place]
                }
            });
            let child = Point::new(levels.collect());
            if space.is_valid(&child) {
                return Ok(child);
            }
        }
        space.sample(rng)
    }
}
