//! The report of `search`.

use super::arguments::SearchArguments;
use super::problem::Problem;
use crate::report::{self, Report};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tilewright::text;
use tuner::recorded::Roles;
use tuner::repetitions::Spread;
use tuner::run::Entry;
use tuner::{Tried, Value};

/// What one method found.
#[derive(Debug, Serialize)]
pub struct Method {
    /// Its name.
    pub method: &'static str,
    /// Best response over the global minimum of the recorded space, over the repetitions; null without a replay.
    pub slowdown: Option<Spread>,
    /// Measurements used, over the repetitions.
    pub used: Spread,
    /// The best configuration of all repetitions; null where every measurement failed.
    pub best: Option<Best>,
    /// Repetitions in which every measurement failed; they are not part of the slowdown.
    pub without_success: usize,
    /// Measurements that failed, of a single search.
    pub failed: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// A configuration.
#[derive(Debug, Clone, Serialize)]
pub struct Best {
    /// Levels by parameter.
    pub configuration: BTreeMap<String, Value>,
    /// Its response.
    pub value: f64,
    /// All its metrics.
    pub metrics: BTreeMap<String, f64>,
    /// As text.
    pub text: String,
}

impl Best {
    /// The configuration of a trial.
    pub fn of(problem: &Problem, trial: &Tried) -> Best {
        let names = problem.space.parameters().iter().map(|parameter| parameter.name().to_owned());
        Best {
            configuration: names.zip(problem.space.values(&trial.point)).collect(),
            value: trial.response(&problem.response).unwrap_or(f64::NAN),
            metrics: trial.metrics.iter().map(|(name, metric)| (name.clone(), metric.value)).collect(),
            text: problem.space.text(&trial.point),
        }
    }
}

/// The report: the first method at the top, all of them in `methods`.
#[derive(Debug, Serialize)]
pub struct SearchReport {
    /// The first method.
    pub method: String,
    /// Most measurements.
    pub budget: u64,
    /// Number of searches.
    pub repetitions: u64,
    /// Slowdown of the first method; null without a replay.
    pub slowdown: Option<Spread>,
    /// Measurements that the first method used.
    pub used: Option<Spread>,
    /// The best configuration of the first method.
    pub best: Option<Best>,
    /// The metric that is minimised.
    pub response: String,
    /// What is a parameter, what is measured, and why.
    pub roles: Roles,
    /// Seed of the first search.
    pub seed: u64,
    /// How trials were measured.
    pub measured: String,
    /// All methods.
    pub methods: Vec<Method>,
    /// What each step of lm and dlmt decided.
    pub steps: Vec<serde_json::Value>,
    /// Files that were written.
    pub files: Vec<PathBuf>,
    #[serde(skip)]
    about: Vec<(&'static str, &'static str)>,
}

impl SearchReport {
    /// The report of some searches.
    pub fn new(
        arguments: &SearchArguments,
        problem: &Problem,
        methods: Vec<Method>,
        log: Vec<Entry>,
        files: Vec<PathBuf>,
    ) -> SearchReport {
        let first = methods.first();
        SearchReport {
            method: first.map(|method| method.method.to_owned()).unwrap_or_default(),
            budget: arguments.budget,
            repetitions: arguments.repetitions,
            slowdown: first.and_then(|method| method.slowdown),
            used: first.map(|method| method.used),
            best: first.and_then(|method| method.best.clone()),
            response: problem.response.clone(),
            roles: problem.roles.clone(),
            seed: arguments.seed,
            measured: problem.evaluator.description(),
            methods,
            steps: log.into_iter().map(|entry| entry.data).collect(),
            files,
            about: Vec::new(),
        }
    }

    /// The list of methods.
    pub fn of_methods() -> SearchReport {
        SearchReport {
            method: "help".to_owned(),
            budget: 0,
            repetitions: 0,
            slowdown: None,
            used: None,
            best: None,
            response: String::new(),
            roles: Roles::default(),
            seed: 0,
            measured: String::new(),
            methods: Vec::new(),
            steps: Vec::new(),
            files: Vec::new(),
            about: super::methods::methods(),
        }
    }
}

impl Report for SearchReport {
    const SCHEMA: &'static str = "tilewright.search/1";
    fn interrupted(&self) -> bool {
        self.methods.iter().any(|method| method.interrupted)
    }

    fn passed(&self) -> bool {
        !self.about.is_empty() || self.methods.iter().all(|method| method.best.is_some())
    }

    fn text(&self) -> String {
        if !self.about.is_empty() {
            let lines: Vec<(&str, String)> =
                self.about.iter().map(|(n, about)| (*n, (*about).to_owned())).collect();
            return report::pairs(&lines);
        }
        let mut about = vec![
            ("measured", self.measured.clone()),
            ("response", format!("{} (least is best)", self.response)),
        ];
        about.extend(self.roles.lines());
        about.extend([
            ("budget", text::count(self.budget, "measurement", "measurements")),
            ("repetitions", self.repetitions.to_string()),
        ]);
        let mut text = report::pairs(&about);
        text.push('\n');
        let replayed = self.methods.iter().any(|method| method.slowdown.is_some());
        let mut header = vec!["method"];
        if replayed {
            header.extend(["slowdown", "min", "max"]);
        }
        header.extend(["used", "max used", "best"]);
        let rows: Vec<Vec<String>> = self
            .methods
            .iter()
            .map(|method| {
                let mut row = vec![method.method.to_owned()];
                if replayed {
                    let spread =
                        method.slowdown.unwrap_or(Spread { mean: f64::NAN, min: f64::NAN, max: f64::NAN });
                    row.extend([spread.mean, spread.min, spread.max].map(|value| format!("{value:.3}")));
                }
                row.push(format!("{:.1}", method.used.mean));
                row.push(format!("{:.0}", method.used.max));
                row.push(
                    method.best.as_ref().map_or("none".to_owned(), |best| format!("{:.4e}", best.value)),
                );
                row
            })
            .collect();
        let right: Vec<usize> = (1..header.len()).collect();
        text.push_str(&report::table(&header, &rows, &right));
        for method in &self.methods {
            match &method.best {
                Some(best) => text.push_str(&format!("\n{}: {}\n", method.method, best.text)),
                None => text.push_str(&format!("\n{}: every measurement failed\n", method.method)),
            }
            if method.failed > 0 {
                text.push_str(&format!(
                    "  {} failed\n",
                    text::count(method.failed as u64, "measurement", "measurements")
                ));
            }
            if method.interrupted {
                text.push_str("  stopped by the user\n");
            }
        }
        for file in &self.files {
            text.push_str(&format!("written {}\n", file.display()));
        }
        text
    }
}
