//! What is optimised: a number for each variant, made of what was measured.

use crate::error::{AdaptiveError, Result};
use std::fmt;
use std::sync::Arc;
use trials::{Outcome, Status, Value};
use tuner::expression::Expression;

/// Sees what all variants measured for one input, and says what each costs: the least is the best, infinite what is out.
pub type Judge = dyn Fn(&[Outcome]) -> Vec<f64> + Send + Sync;

/// What is optimised.
#[derive(Clone)]
pub enum Objective {
    /// A metric, or an expression over metrics.
    Metric {
        /// The expression, in the language of constraints.
        text: String,
        /// Whether greater values are better.
        maximize: bool,
    },
    /// Any function of what all variants measured, such as the fastest within five per cent of the least energy.
    Judge {
        /// What it is, for reports.
        text: String,
        /// The function.
        judge: Arc<Judge>,
    },
    /// An objective among the variants whose metrics keep bounds, such as the fastest of those with an error of at most 1e-3.
    Bounded {
        /// The objective.
        of: Box<Objective>,
        /// Metrics, or expressions over metrics, and the greatest value of each.
        bounds: Vec<(String, f64)>,
        /// What it is, for reports.
        text: String,
    },
}

impl fmt::Debug for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objective({})", self.text())
    }
}

impl Default for Objective {
    fn default() -> Objective {
        Objective::least("seconds")
    }
}

impl Objective {
    /// The least value of a metric or an expression over metrics.
    pub fn least(text: &str) -> Objective {
        Objective::Metric { text: text.to_owned(), maximize: false }
    }

    /// The greatest value.
    pub fn greatest(text: &str) -> Objective {
        Objective::Metric { text: text.to_owned(), maximize: true }
    }

    /// The same among the variants that keep these bounds: a result with a greater value counts as wrong, and one without the metric is a
    /// mistake.
    pub fn within(self, bounds: Vec<(String, f64)>) -> Objective {
        if bounds.is_empty() {
            return self;
        }
        let each: Vec<String> = bounds.iter().map(|(name, bound)| format!("{name} <= {bound}")).collect();
        let text = format!("{} where {}", self.text(), each.join(", "));
        Objective::Bounded { of: Box::new(self), bounds, text }
    }

    /// What it is, for reports.
    pub fn text(&self) -> &str {
        match self {
            Objective::Metric { text, .. }
            | Objective::Judge { text, .. }
            | Objective::Bounded { text, .. } => text,
        }
    }

    /// Whether greater values are better.
    pub fn maximize(&self) -> bool {
        match self {
            Objective::Bounded { of, .. } => of.maximize(),
            own => matches!(own, Objective::Metric { maximize: true, .. }),
        }
    }

    /// Whether it sees what all variants measured, and not each by itself.
    pub fn sees_all(&self) -> bool {
        match self {
            Objective::Bounded { of, .. } => of.sees_all(),
            own => matches!(own, Objective::Judge { .. }),
        }
    }

    /// Whether costs are seconds, so that what features take can be added.
    pub fn is_time(&self) -> bool {
        match self {
            Objective::Metric { text, maximize: false } => ["seconds", "time", "cost"].contains(&text.trim()),
            Objective::Bounded { of, .. } => of.is_time(),
            _ => false,
        }
    }

    /// What each variant costs: infinite where it failed. Of a metric that is maximised it is the reciprocal.
    ///
    /// # Errors
    /// A metric that a variant did not measure; a value that is negative, or none.
    pub fn costs(&self, outcomes: &[Outcome]) -> Result<Vec<f64>> {
        match self {
            Objective::Metric { text, maximize } => outcomes
                .iter()
                .map(|outcome| match value(text, outcome)? {
                    Some(value) if *maximize => Ok(1.0 / value),
                    Some(value) => Ok(value),
                    None => Ok(f64::INFINITY),
                })
                .collect(),
            Objective::Bounded { of, bounds, .. } => {
                let kept =
                    outcomes.iter().map(|outcome| kept(outcome, bounds)).collect::<Result<Vec<_>>>()?;
                of.costs(&kept)
            }
            Objective::Judge { text, judge } => {
                let costs = judge(outcomes);
                let fits = costs.len() == outcomes.len() && costs.iter().all(|cost| *cost >= 0.0);
                fits.then_some(costs).ok_or_else(|| {
                    AdaptiveError::request(
                        format!("the objective `{text}` gave costs that are negative, missing or no numbers"),
                        "give each variant a number, infinite where it is out",
                    )
                })
            }
        }
    }
}

/// An outcome, or a wrong result where it does not keep the bounds.
fn kept(outcome: &Outcome, bounds: &[(String, f64)]) -> Result<Outcome> {
    if outcome.status != Status::Ok {
        return Ok(outcome.clone());
    }
    for (name, bound) in bounds {
        let value = number(name, outcome)?;
        // An error that is no number is none that is small.
        if value.is_nan() || value > *bound {
            let message = format!("{name} is {value}, more than {bound}");
            return Ok(Outcome::failed(Status::WrongResult, message));
        }
    }
    Ok(outcome.clone())
}

/// The value of what is optimised in a trial; `None` for one that failed.
fn value(text: &str, outcome: &Outcome) -> Result<Option<f64>> {
    if outcome.status != Status::Ok {
        return Ok(None);
    }
    let number = number(text, outcome)?;
    if number.is_nan() || number < 0.0 {
        return Err(AdaptiveError::request(
            format!("`{text}` is {number} for a variant"),
            "performance is a ratio: take a metric that is positive, such as a time",
        ));
    }
    Ok(Some(number))
}

/// The value of an expression over the metrics of a trial.
fn number(text: &str, outcome: &Outcome) -> Result<f64> {
    Ok(match outcome.metrics.get(text) {
        Some(metric) => metric.value,
        None => {
            let (names, values): (Vec<&str>, Vec<Value>) = outcome
                .metrics
                .iter()
                .map(|(name, metric)| (name.as_str(), Value::Real(metric.value)))
                .unzip();
            let expression = Expression::parse(text, &names).map_err(|error| {
                let measured = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
                AdaptiveError::request(
                    format!("the metric `{text}` cannot be had of what was measured, {measured}: {error}"),
                    "name a metric with --metric, or an expression over metrics",
                )
            })?;
            let found = expression.value(&|place| &values[place]).ok().and_then(|value| value.number());
            found.unwrap_or(f64::NAN)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_and_failures() {
        let good = Outcome::measured("seconds", 2.0).with("joules", 10.0, "J");
        let bad = Outcome::failed(Status::Timeout, "too late");
        let costs = |objective: Objective| objective.costs(&[good.clone(), bad.clone()]);
        assert_eq!(costs(Objective::default()).unwrap(), [2.0, f64::INFINITY]);
        assert_eq!(costs(Objective::least("seconds * joules")).unwrap()[0], 20.0);
        assert_eq!(costs(Objective::greatest("1 / joules")).unwrap()[0], 10.0);
        let error = costs(Objective::least("watts")).unwrap_err().to_string();
        assert!(error.contains("joules, seconds"), "{error}");
        assert!(costs(Objective::least("1 - seconds")).is_err());
        let judge: Arc<Judge> = Arc::new(|outcomes| outcomes.iter().map(|_| 1.0).collect());
        assert_eq!(costs(Objective::Judge { text: "all".to_owned(), judge }).unwrap(), [1.0, 1.0]);
        let judge: Arc<Judge> = Arc::new(|_| vec![f64::NAN]);
        assert!(costs(Objective::Judge { text: "none".to_owned(), judge }).is_err());
    }

    /// The fastest within 1e-3: whoever is faster and less accurate counts as wrong, for every objective.
    #[test]
    fn bounds_are_kept() {
        let of = |seconds: f64, error: f64| Outcome::measured("seconds", seconds).with("error", error, "");
        let outcomes = [of(4.0, 0.0), of(2.0, 1e-3), of(1.0, 2e-3), Outcome::failed(Status::RunError, "")];
        let bound = || vec![("error".to_owned(), 1e-3)];
        let least = Objective::default().within(bound());
        let inf = f64::INFINITY;
        assert_eq!(least.costs(&outcomes).unwrap(), [4.0, 2.0, inf, inf]);
        assert_eq!(
            (least.text(), least.is_time(), least.maximize()),
            ("seconds where error <= 0.001", true, false)
        );
        let greatest = Objective::greatest("1 / seconds").within(bound());
        assert_eq!(greatest.costs(&outcomes).unwrap(), [4.0, 2.0, inf, inf]);
        assert!(greatest.maximize() && !greatest.is_time());
        // A function of all variants sees them as failed.
        let judge: Arc<Judge> = Arc::new(|outcomes| {
            outcomes.iter().map(|own| own.response("seconds").unwrap_or(f64::INFINITY)).collect()
        });
        let judged = Objective::Judge { text: "all".to_owned(), judge }.within(bound());
        assert_eq!(judged.costs(&outcomes).unwrap(), [4.0, 2.0, inf, inf]);
        // Errors may be expressions; one that is no number, or was not measured, is not kept in silence.
        let relative = Objective::default().within(vec![("error / 0".to_owned(), 1e-3)]);
        assert_eq!(relative.costs(&outcomes[..1]).unwrap(), [inf]);
        let unknown = Objective::default().within(vec![("residual".to_owned(), 1e-3)]);
        assert!(unknown.costs(&outcomes).unwrap_err().to_string().contains("error, seconds"));
        assert_eq!(Objective::default().within(Vec::new()).text(), "seconds");
    }
}
