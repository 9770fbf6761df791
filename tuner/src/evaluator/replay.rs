//! Replay of a recorded space: what somebody measured before is measured again at once.

use super::Evaluator;
use crate::error::{Result, TunerError};
use crate::recorded::Recorded;
use crate::space::Point;
use crate::trial::{Status, Trial};
use std::collections::HashMap;

/// The trials of a recorded space, by point. Of several trials of a point the first counts.
pub struct Replay {
    trials: HashMap<Point, Trial>,
    description: String,
    best: f64,
}

impl Replay {
    /// Replays these trials.
    ///
    /// # Errors
    /// Where no trial has the response, so that there is nothing to search for.
    pub fn new(recorded: &Recorded, response: &str) -> Result<Replay> {
        let mut trials = HashMap::with_capacity(recorded.trials.len());
        for trial in &recorded.trials {
            trials.entry(trial.point.clone()).or_insert_with(|| trial.clone());
        }
        let best = trials.values().filter_map(|trial| trial.response(response)).fold(f64::INFINITY, f64::min);
        if !best.is_finite() {
            return Err(TunerError::Space {
                reason: format!("{}: no trial with a value of `{response}`", recorded.path.display()),
                hint: "name another metric with --response".to_owned(),
            });
        }
        let description = format!("replay of {}", recorded.path.display());
        Ok(Replay { trials, description, best })
    }

    /// The least response of all trials: the global minimum of the recorded space.
    pub fn best(&self) -> f64 {
        self.best
    }
}

impl Evaluator for Replay {
    fn evaluate(&self, point: &Point) -> Result<Trial> {
        Ok(match self.trials.get(point) {
            Some(trial) => trial.clone(),
            None => Trial::failed(point.clone(), Status::Invalid, "it was not recorded"),
        })
    }

    fn parallel(&self) -> usize {
        usize::MAX
    }

    fn description(&self) -> String {
        self.description.clone()
    }
}
