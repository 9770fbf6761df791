//! Replay of a recorded space: what somebody measured before is measured again at once.

use super::Evaluator;
use crate::error::{Result, TunerError};
use crate::recorded::Recorded;
use crate::space::{Point, Space};
use std::collections::HashMap;
use std::sync::Arc;
use trials::{Outcome, Setting, Status};

/// The trials of a recorded space, by point. Of several trials of a point the first counts.
#[derive(Clone)]
pub struct Replay {
    trials: Arc<HashMap<Point, Outcome>>,
    setting: Setting,
    best: f64,
}

impl Replay {
    /// Replays these trials in the space of the file.
    ///
    /// # Errors
    /// As [`Replay::in_space`].
    pub fn new(recorded: &Recorded, response: &str) -> Result<Replay> {
        Replay::in_space(recorded, response, &recorded.space)
    }

    /// Replays those trials whose configurations are valid points of a space, such as a part of the recorded one.
    ///
    /// # Errors
    /// Where none of them has the response, so that there is nothing to search for.
    pub fn in_space(recorded: &Recorded, response: &str, space: &Space) -> Result<Replay> {
        let mut trials = HashMap::with_capacity(recorded.trials.len());
        let same = recorded.space.parameters() == space.parameters();
        for trial in &recorded.trials {
            let point =
                if same { trial.point.clone() } else { space.point(&recorded.space.values(&trial.point))? };
            if space.is_valid(&point) {
                trials.entry(point).or_insert_with(|| trial.outcome.clone());
            }
        }
        let best = trials.values().filter_map(|trial| trial.response(response)).fold(f64::INFINITY, f64::min);
        if !best.is_finite() {
            return Err(TunerError::Space {
                reason: format!(
                    "{}: no trial in the space has a value of `{response}`",
                    recorded.path.display()
                ),
                hint: "name another metric with --response".to_owned(),
            });
        }
        let setting = Setting {
            job: format!("replay of {}", recorded.path.display()),
            program: recorded.kernel.clone(),
            backend: "replay".to_owned(),
            machine: recorded.device.clone(),
            ..Setting::default()
        };
        Ok(Replay { trials: Arc::new(trials), setting, best })
    }

    /// The least response of all trials: the global minimum of the recorded space.
    pub fn best(&self) -> f64 {
        self.best
    }
}

impl Evaluator for Replay {
    fn evaluate(&self, point: &Point) -> Result<Outcome> {
        Ok(match self.trials.get(point) {
            Some(trial) => trial.clone(),
            None => Outcome::failed(Status::Invalid, "it was not recorded"),
        })
    }

    fn parallel(&self) -> usize {
        usize::MAX
    }

    fn description(&self) -> String {
        self.setting.job.clone()
    }

    fn setting(&self) -> Setting {
        self.setting.clone()
    }
}
