//! Greedy descent over neighbours, once or again and again.

use super::Searcher;
use crate::run::{Run, Stop};
use rand::seq::SliceRandom;

/// Starts at a random point and goes to the first better neighbour, one that differs in one parameter by one level,
/// neighbours in random order; ends where no neighbour is better, or starts again.
pub struct Greedy {
    /// Whether it starts again.
    pub restart: bool,
}

impl Searcher for Greedy {
    fn name(&self) -> &'static str {
        if self.restart { "greedy-restart" } else { "greedy" }
    }

    fn about(&self) -> &'static str {
        if self.restart {
            "greedy descent, started again at a random point until the budget is spent"
        } else {
            "greedy descent from a random point to the first local minimum"
        }
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        loop {
            let mut point = run.space.sample(&mut run.rng)?;
            let mut response = run.measure_one(&point)?;
            loop {
                let mut neighbours = run.space.adjacent(&point);
                neighbours.shuffle(&mut run.rng);
                let mut better = None;
                for neighbour in neighbours {
                    let found = run.measure_one(&neighbour)?;
                    if found.is_some_and(|found| response.is_none_or(|response| found < response)) {
                        better = Some((neighbour, found));
                        break;
                    }
                }
                match better {
                    Some((neighbour, found)) => (point, response) = (neighbour, found),
                    None => break,
                }
            }
            if !self.restart {
                return Ok(());
            }
        }
    }
}
