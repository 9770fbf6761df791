//! The report of `validate`.

use crate::report::{self, Report};
use plots::Point;
use plots::figures::Prediction;
use serde::Serialize;
use tilewright::text;
use tilewright::validation::{Metric, Sample, Validation};

/// The counter that was read.
#[derive(Debug, Clone, Serialize)]
pub struct CounterReport {
    /// Its name.
    pub name: String,
    /// Whether no hardware was read: measured joules are the model's own, as such a counter would show them.
    pub simulated: bool,
    /// Whether no tile ran: there is no device, and times are the predicted ones.
    pub simulated_times: bool,
    /// Whether the energies of the machine are assumed ones, because its file has none.
    pub assumed_energies: bool,
    /// What chose the noise of a simulated counter.
    pub seed: Option<u64>,
    /// Relative standard deviation of the noise of a simulated counter.
    pub noise: Option<f64>,
    /// How often a simulated counter wrapped around.
    pub wrapped: Option<u64>,
}

/// The report of `validate`.
#[derive(Debug, Serialize)]
pub struct ValidateReport {
    /// Name of the stencil.
    pub stencil: String,
    /// Name of the machine.
    pub machine: String,
    /// What ran the tiles.
    pub backend: &'static str,
    /// Grid extents.
    pub size: Vec<i64>,
    /// Time steps.
    pub steps: i64,
    /// How well the model fits and picks.
    #[serde(flatten)]
    pub validation: Validation,
    /// The counter of joules; null where times were compared.
    pub counter: Option<CounterReport>,
    /// Facts worth knowing.
    pub notes: Vec<String>,
}

impl ValidateReport {
    /// Predicted over measured values of all tiles.
    pub(super) fn prediction(&self) -> Prediction {
        let point = |sample: &Sample| {
            let values =
                [sample.measured, sample.predicted].map(|value| value_text(self.validation.metric, value));
            let title = format!("{}: measured {}, predicted {}", sample.tile, values[0], values[1]);
            Point::new(sample.measured, sample.predicted, title)
        };
        let validation = &self.validation;
        let points = validation.tiles.iter().map(point).collect();
        let simulated = self.counter.as_ref().filter(|counter| counter.simulated);
        let title = format!(
            "{}, {}, {} steps on {}{}",
            self.stencil,
            text::size(&self.size),
            self.steps,
            self.machine,
            simulated.map_or(String::new(), |counter| format!(", {}", counter.name))
        );
        let picked = validation.tiles.len() - 1;
        let quantity = match validation.metric {
            Metric::Time => "time".to_owned(),
            Metric::Energy => "energy in joules".to_owned(),
        };
        Prediction { title, quantity, points, picked, best: validation.fit.best_measured }
    }
}

impl CounterReport {
    /// What a simulated counter says, and what not.
    pub(super) fn note(&self) -> Option<String> {
        let times = if self.simulated_times { "; no tile ran, and times are predicted ones" } else { "" };
        let energies = if self.assumed_energies {
            "; its machine has no energies, and those of the model are assumed ones"
        } else {
            ""
        };
        self.simulated.then(|| {
            format!(
                "the counter is simulated: it counts what the model says of the time that a tile takes, with noise, in steps and \
                 across its end. This shows that joules are read as they should be, and nothing of the model's energies{times}{energies}"
            )
        })
    }
}

/// A value with its unit.
fn value_text(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Time => report::seconds(value),
        Metric::Energy => format!("{value:.4} J"),
    }
}

impl Report for ValidateReport {
    const SCHEMA: &'static str = "tilewright.validate/1";

    fn text(&self) -> String {
        let percent = |value: f64| format!("{:.1} %", 100.0 * value);
        let value = |value: f64| value_text(self.validation.metric, value);
        let mut pairs = vec![
            ("stencil", format!("{}, {}, {} steps", self.stencil, text::size(&self.size), self.steps)),
            ("machine", self.machine.clone()),
            (
                "samples",
                format!("{} of the feasible tile sizes, and the model's own choice", self.validation.samples),
            ),
            (
                "rmse all",
                percent(self.validation.fit.rmse_all) + ": root mean square of predicted / measured - 1",
            ),
            (
                "rmse top 20",
                format!(
                    "{} over the {} within 20 % of the best",
                    percent(self.validation.fit.rmse_top20),
                    text::count(self.validation.fit.top20 as u64, "tile", "tiles")
                ),
            ),
            (
                "best",
                format!("{} with {}", value(self.validation.fit.best_measured), self.validation.best_tile),
            ),
            (
                "picked",
                format!(
                    "{} with {}, {:.3} times the best, predicted {}",
                    value(self.validation.picked_measured),
                    self.validation.picked_tile,
                    self.validation.picked_over_best,
                    value(self.validation.picked_predicted)
                ),
            ),
            (
                "rank",
                format!(
                    "{} of {} (1: the {})",
                    self.validation.rank_of_picked,
                    self.validation.samples + 1,
                    if self.validation.metric == Metric::Time { "fastest" } else { "least" }
                ),
            ),
        ];
        if let Some(counter) = &self.counter {
            let simulated = match (counter.simulated, counter.noise, counter.seed) {
                (true, Some(noise), Some(seed)) => {
                    format!(", SIMULATED: nothing was measured (seed {seed}, noise of {})", percent(noise))
                }
                _ => String::new(),
            };
            pairs.insert(2, ("counter", counter.name.clone() + &simulated));
        }
        let mut text = report::pairs(&pairs);
        // The last size is that of the rows.
        let mut tiles = [&self.validation.best_tile, &self.validation.picked_tile].into_iter();
        let zero = tiles.find_map(|tile| tile.rsplit(',').next().filter(|size| size.ends_with("=0")));
        if let Some(size) = zero {
            text += &format!("\n({size}: whole rows)\n");
        }
        for note in &self.notes {
            text += &format!("\nnote: {note}");
        }
        text
    }
}
