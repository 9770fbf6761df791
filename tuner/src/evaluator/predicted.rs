//! A model in the place of a measurement: what a formula says about every configuration, at once and without noise.

use super::Evaluator;
use crate::error::Result;
use crate::space::{Point, Space};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;
use trials::{Outcome, Setting, Status};

/// The predicted response of a point, or why there is none.
pub type Predict = Arc<dyn Fn(&Point) -> std::result::Result<f64, String> + Send + Sync>;

/// Evaluates a model.
#[derive(Clone)]
pub struct Predicted {
    predict: Predict,
    response: String,
    unit: String,
    setting: Setting,
}

impl Predicted {
    /// The model of a response.
    pub fn new(predict: Predict, response: &str, unit: &str, description: &str) -> Predicted {
        let (response, unit) = (response.to_owned(), unit.to_owned());
        let setting =
            Setting { job: description.to_owned(), backend: "model".to_owned(), ..Setting::default() };
        Predicted { predict, response, unit, setting }
    }

    /// The same, of this program on this machine.
    pub fn in_setting(self, setting: Setting) -> Predicted {
        let Setting { job, backend, .. } = self.setting;
        Predicted { setting: Setting { job, backend, ..setting }, ..self }
    }

    /// The `count` points with the least predictions, best first: among all of a listed space, else among 20,000 at
    /// random. Points without a prediction are left out.
    ///
    /// # Errors
    /// As [`Space::sample_distinct`].
    pub fn ranking(&self, space: &Space, count: usize, seed: u64) -> Result<Vec<Point>> {
        let drawn;
        let points = match space.points() {
            Some(points) => points,
            None => {
                drawn = space.sample_distinct(20_000, &mut ChaCha8Rng::seed_from_u64(seed))?;
                &drawn
            }
        };
        let mut ranked: Vec<(f64, &Point)> = points
            .iter()
            .filter_map(|point| (self.predict)(point).ok().map(|value| (value, point)))
            .collect();
        ranked.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(right.1)));
        Ok(ranked.into_iter().take(count).map(|(_, point)| point.clone()).collect())
    }
}

impl Evaluator for Predicted {
    fn evaluate(&self, point: &Point) -> Result<Outcome> {
        Ok(match (self.predict)(point) {
            Ok(value) => Outcome::measured(&self.response, value).with(&self.response, value, &self.unit),
            Err(reason) => Outcome::failed(Status::Invalid, reason),
        }
        .now())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Budget, Run};
    use crate::searcher::{SearchOptions, named};
    use trials::Parameter;
    use trials::Value;

    fn problem() -> (Space, Predicted) {
        let levels = || (0..30).map(Value::Integer).collect();
        let parameters = ["x", "y"].iter().map(|name| Parameter::new(*name, levels()).unwrap()).collect();
        let space = Space::new(parameters, &[]).unwrap();
        let predict: Predict = Arc::new(|point: &Point| {
            let [x, y] = [0, 1].map(|place| f64::from(point.levels()[place]));
            if x == 9.0 { Err("too large".to_owned()) } else { Ok(1.0 + (x - 9.5).abs() + (y - 20.0).abs()) }
        });
        (space, Predicted::new(predict, "seconds", "s", "a model"))
    }

    #[test]
    fn the_ranking_starts_with_the_least_and_leaves_out_what_fails() {
        let (space, model) = problem();
        let ranking = model.ranking(&space, 4, 1).unwrap();
        let levels: Vec<&[u32]> = ranking.iter().map(Point::levels).collect();
        assert_eq!(levels, [[10, 20], [8, 20], [10, 19], [10, 21]]);
        assert_eq!(model.evaluate(&Point::new(vec![9, 20])).unwrap().status, Status::Invalid);
    }

    #[test]
    fn a_search_that_starts_from_a_model_goes_on_to_what_is_really_best() {
        let (space, model) = problem();
        // What is measured is least two levels away from what the model prefers.
        let measured: Predict = Arc::new(|point: &Point| {
            let [x, y] = [0, 1].map(|place| f64::from(point.levels()[place]));
            Ok(1.0 + (x - 12.0).powi(2) + (y - 20.0).powi(2))
        });
        let measured = Predicted::new(measured, "seconds", "s", "measured");
        let ranking = model.ranking(&space, 900, 1).unwrap();
        let searcher = named("model", &SearchOptions { ranking, ..SearchOptions::default() }).unwrap();
        let budget = Budget { evaluations: 30, time: None };
        let mut run = Run::new(&space, "seconds", &measured, budget, 1);
        assert!(searcher.search(&mut run).is_err(), "the budget is spent");
        assert_eq!(run.trials()[0].point.levels(), [10, 20]);
        assert_eq!(run.best_response(), Some(1.0));
        let mut run = Run::new(&space, "seconds", &measured, budget, 1);
        let unseeded = named("model", &SearchOptions::default()).unwrap();
        assert!(matches!(unseeded.search(&mut run), Err(crate::run::Stop::Failed(_))));
    }
}
