//! What is optimised: a number for each variant, made of what was measured.

use crate::error::{AdaptiveError, Result};
use std::fmt;
use std::sync::Arc;
use trials::{Outcome, Value};
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

    /// What it is, for reports.
    pub fn text(&self) -> &str {
        match self {
            Objective::Metric { text, .. } | Objective::Judge { text, .. } => text,
        }
    }

    /// Whether greater values are better.
    pub fn maximize(&self) -> bool {
        matches!(self, Objective::Metric { maximize: true, .. })
    }

    /// Whether costs are seconds, so that what features take can be added.
    pub fn is_time(&self) -> bool {
        matches!(self, Objective::Metric { text, maximize: false } if ["seconds", "time", "cost"].contains(&text.trim()))
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

/// The value of an expression over the metrics of a trial; `None` for one that failed.
fn value(text: &str, outcome: &Outcome) -> Result<Option<f64>> {
    if outcome.status != trials::Status::Ok {
        return Ok(None);
    }
    let number = match outcome.metrics.get(text) {
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
    };
    if number.is_nan() || number < 0.0 {
        return Err(AdaptiveError::request(
            format!("`{text}` is {number} for a variant"),
            "performance is a ratio: take a metric that is positive, such as a time",
        ));
    }
    Ok(Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trials::Status;

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
}
