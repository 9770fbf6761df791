//! Greedy descent over neighbours, once or again and again.

use super::Searcher;
use crate::run::{Run, Stop};
use rand::seq::SliceRandom;

/// Starts at a random point, measures all neighbours, those that differ in one parameter by one level, and goes to the
/// best of them; ends where no neighbour is better, or starts again.
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
            "steepest descent over neighbours, started again at a random point until the budget is spent"
        } else {
            "steepest descent over neighbours from a random point to the first local minimum"
        }
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        loop {
            let mut point = run.space.sample(&mut run.rng)?;
            let mut response = run.measure_one(&point)?;
            loop {
                let mut neighbours = run.space.adjacent(&point);
                neighbours.shuffle(&mut run.rng);
                let found = run.measure(&neighbours)?;
                let best = neighbours
                    .into_iter()
                    .zip(found)
                    .filter_map(|(neighbour, found)| Some((neighbour, found?)))
                    .min_by(|left, right| left.1.total_cmp(&right.1));
                match best {
                    Some((neighbour, found)) if response.is_none_or(|response| found < response) => {
                        (point, response) = (neighbour, Some(found));
                    }
                    _ => break,
                }
            }
            if !self.restart {
                return Ok(());
            }
        }
    }
}
