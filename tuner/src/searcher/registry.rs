//! All searchers, by their names.

use super::linear_model::{Decider, LinearModel, Settings};
use super::{Searcher, annealing, genetic, greedy, latin_hypercube, random, ranked, starchart, surrogate};
use crate::error::{Result, TunerError};
use crate::space::Point;

/// What some searchers want to know.
#[derive(Clone, Default)]
pub struct SearchOptions {
    /// Model of `lm` and `dlmt`, as an R-like formula; where it is not given, one is made for the space.
    pub model: Option<String>,
    /// Points to start with, best first, such as those that a cost model prefers.
    pub start: Vec<Point>,
    /// All points as a cost model ranks them, best first, for `model`; empty without one.
    pub ranking: Vec<Point>,
    /// Who decides at each step of `lm` and `dlmt`.
    pub decider: Option<Decider>,
}

/// All searchers.
pub fn all(options: &SearchOptions) -> Vec<Box<dyn Searcher>> {
    vec![
        Box::new(surrogate::Surrogate { first: options.start.clone(), ..surrogate::Surrogate::default() }),
        Box::new(random::Random),
        Box::new(latin_hypercube::LatinHypercube),
        Box::new(greedy::Greedy { restart: false }),
        Box::new(greedy::Greedy { restart: true }),
        Box::new(genetic::Genetic::default()),
        Box::new(annealing::Annealing::default()),
        Box::new(starchart::Starchart::default()),
        Box::new(ranked::Ranked { ranking: options.ranking.clone() }),
        Box::new(linear_model(options, false)),
        Box::new(linear_model(options, true)),
    ]
}

/// The searcher of this name.
///
/// # Errors
/// An unknown name.
pub fn named(name: &str, options: &SearchOptions) -> Result<Box<dyn Searcher>> {
    let all = all(options);
    let names: Vec<&str> = all.iter().map(|searcher| searcher.name()).collect();
    match names.iter().position(|known| *known == name) {
        Some(place) => {
            Ok(all.into_iter().nth(place).ok_or_else(|| TunerError::unknown("searcher", name, &[]))?)
        }
        None => Err(TunerError::unknown("searcher", name, &names)),
    }
}

fn linear_model(options: &SearchOptions, designed: bool) -> LinearModel {
    LinearModel {
        designed,
        model: options.model.clone(),
        decider: options.decider.clone(),
        start: options.start.clone(),
        settings: if designed { Settings::default() } else { Settings::random() },
    }
}
