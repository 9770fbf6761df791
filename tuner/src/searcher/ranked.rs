//! Search that starts from a cost model's ranking.

use super::Searcher;
use crate::error::TunerError;
use crate::run::{Run, Stop};
use crate::space::Point;

/// Measures the configurations that a model prefers, best first; after half of the budget it goes down from the best
/// measured one to better neighbours, and then on along the ranking. So it finds what the model knows first, and what
/// the model does not know as far as that is near.
pub struct Ranked {
    /// The ranking, best first.
    pub ranking: Vec<Point>,
}

impl Searcher for Ranked {
    fn name(&self) -> &'static str {
        "model"
    }

    fn about(&self) -> &'static str {
        "the cost model's ranking, best first, then neighbours of the best measured (stencils with --machine)"
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        if self.ranking.is_empty() {
            return Err(TunerError::Request {
                reason: "the method `model` needs the ranking of a cost model".to_owned(),
                hint: "give a stencil and --machine; `tilewright calibrate` writes the file of this machine"
                    .to_owned(),
            }
            .into());
        }
        let first = (run.left() / 2).clamp(1, self.ranking.len());
        run.measure(&self.ranking[..first])?;
        while let Some(best) = run.best().map(|trial| trial.point.clone()) {
            let before = run.best_response();
            run.measure(&run.space.adjacent(&best))?;
            if run.best_response() >= before {
                break;
            }
        }
        run.measure(&self.ranking[first..])?;
        Ok(())
    }
}
