//! Uniform random sampling without replacement.

use super::Searcher;
use crate::run::{Run, Stop};

/// Draws valid points uniformly, each at most once, until the budget is spent.
pub struct Random;

impl Searcher for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn about(&self) -> &'static str {
        "uniform random sampling without replacement"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let points = run.space.sample_distinct(run.left(), &mut run.rng)?;
        run.measure(&points)?;
        Ok(())
    }
}
