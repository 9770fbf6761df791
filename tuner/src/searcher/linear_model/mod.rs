//! DLMT and LM: linear models over designed or random experiments (P. Bruel et al., Autotuning under Tight Budget
//! Constraints: A Transparent Design of Experiments Approach, CCGrid 2019, sections III to V).
//!
//! A step: a design for the model of the factors that are still free; measure it; choose the scale of the response
//! (Box-Cox), see which terms matter (ANOVA), refit with these, predict the best point, fix the factors that mattered
//! most to its levels, and go on in the smaller space. Every step leaves an entry in the journal.

mod default_model;
mod journal;
mod proposal;
mod settings;
mod step;

pub use proposal::{Choice, Decide, Decider, Proposal};
pub use settings::Settings;

use super::Searcher;
use crate::doe::Formula;
use crate::error::TunerError;
use crate::run::{Run, Stop};
use crate::space::Point;
use rand::seq::SliceRandom;
use step::Step;
use trials::Parameter;

/// Iterative linear models.
pub struct LinearModel {
    /// Whether designs are D-optimal (DLMT), or random and larger (LM).
    pub designed: bool,
    /// The first model; one for the space where it is not given.
    pub model: Option<String>,
    /// Who decides; without one, the proposals are taken.
    pub decider: Option<Decider>,
    /// Measured before the first design, best first.
    pub start: Vec<Point>,
    /// The constants of the method.
    pub settings: Settings,
}

impl LinearModel {
    /// The formula of the first step.
    fn formula(&self, run: &Run<'_>) -> crate::Result<Formula> {
        let names: Vec<&str> = run.space.parameters().iter().map(Parameter::name).collect();
        match &self.model {
            Some(text) => Ok(Formula::parse(text, &names)?),
            None => default_model::formula(run.space, run.left(), self.settings.runs_per_coefficient),
        }
    }

    /// Runs of the design of a step, for a model with `width` coefficients.
    fn runs(&self, step: usize, width: usize, run: &Run<'_>) -> usize {
        if self.designed {
            (self.settings.runs_per_coefficient * width as f64).ceil() as usize
        } else {
            let part = self.settings.random_parts.get(step).copied().unwrap_or(0.04);
            ((run.budget() as f64 * part) as usize).max(width + 1)
        }
    }
}

impl Searcher for LinearModel {
    fn name(&self) -> &'static str {
        if self.designed { "dlmt" } else { "lm" }
    }

    fn about(&self) -> &'static str {
        if self.designed {
            "design of experiments: D-optimal designs, ANOVA and linear models, step by step"
        } else {
            "as dlmt, on random experiments instead of designed ones"
        }
    }

    fn search(&self, run: &mut Run<'_>) -> Result<(), Stop> {
        let first = self.formula(run)?;
        let mut formula = first.clone();
        run.measure(&self.start)?;
        let before = run.trials().len();
        let mut limit = None;
        let mut fixed: Vec<Option<u32>> = vec![None; run.space.parameters().len()];
        for number in 0.. {
            let Some(mut step) = Step::new(run, &formula, &fixed, self.settings.candidates)? else { break };
            let wanted = self.runs(number, step.width(), run);
            if run.left() < step.width() + 1 {
                if number > 0 {
                    break;
                }
                return Err(too_small(run.budget(), step.width()).into());
            }
            if number == 0 && self.designed && self.decider.is_none() {
                limit = Some(before + (self.settings.growth * wanted as f64) as usize);
            }
            // The step, its best point, the look back and the neighbours.
            let needed = wanted.min(step.candidates.len()) + 2 + self.settings.neighbours.0;
            if number > 0 && limit.is_some_and(|limit| run.trials().len() + needed > limit) {
                break;
            }
            let count = wanted.min(run.left().saturating_sub(1).max(step.width()));
            let all_measured = if step.candidates.len() <= count {
                let points = step.candidates.clone();
                run.measure(&points)?;
                true
            } else {
                let design = if self.designed { step.designed(run, count) } else { step.random(run, count) };
                step.measure(run, &design)?;
                false
            };
            let proposal = step.analyse(run, &self.settings, all_measured)?;
            let choice = match (&self.decider, &proposal) {
                (Some(decider), Some(proposal)) => match decider.lock() {
                    Ok(mut decider) => decider.decide(proposal),
                    Err(_) => Choice::Stop,
                },
                (None, Some(proposal)) => Choice::Fix(proposal.fix.clone()),
                (_, None) => Choice::Stop,
            };
            run.log(journal::entry(number + 1, &step, proposal.as_ref(), &choice, run));
            let (Some(proposal), Choice::Fix(factors)) = (proposal, choice) else { break };
            if all_measured {
                break;
            }
            run.measure_one(&proposal.best)?;
            if factors.is_empty() {
                break;
            }
            for &factor in &factors {
                fixed[factor] = Some(proposal.best.levels()[factor]);
            }
            formula = formula.with_terms(
                formula
                    .terms
                    .iter()
                    .filter(|term| {
                        step::parameters_of(term, run.space).iter().all(|place| !factors.contains(place))
                    })
                    .cloned()
                    .collect(),
            );
        }
        self.look_back(run, &first)?;
        self.explore_neighbours(run, limit)
    }
}

impl LinearModel {
    /// Fits the first model to all measurements, with no factor fixed, and measures what it prefers: a factor that was
    /// fixed too early is found here.
    fn look_back(&self, run: &mut Run<'_>, formula: &Formula) -> Result<(), Stop> {
        let free = vec![None; run.space.parameters().len()];
        let Some(step) = Step::new(run, formula, &free, self.settings.candidates)? else { return Ok(()) };
        let Some(proposal) = step.analyse(run, &self.settings, false)? else { return Ok(()) };
        run.measure_one(&proposal.best)?;
        run.log(journal::entry(0, &step, Some(&proposal), &Choice::Stop, run));
        Ok(())
    }

    /// Goes from the best point to the first better neighbour, as far as the measurements for it reach.
    fn explore_neighbours(&self, run: &mut Run<'_>, limit: Option<usize>) -> Result<(), Stop> {
        let (least, most) = self.settings.neighbours;
        let end = limit.unwrap_or(usize::MAX).clamp(run.trials().len() + least, run.trials().len() + most);
        while let Some(best) = run.best().map(|trial| trial.point.clone()) {
            let before = run.best_response();
            let mut neighbours = run.space.adjacent(&best);
            neighbours.shuffle(&mut run.rng);
            for neighbour in neighbours {
                if run.trials().len() >= end {
                    return Ok(());
                }
                run.measure_one(&neighbour)?;
                if run.best_response() < before {
                    break;
                }
            }
            if run.best_response() >= before {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn too_small(budget: usize, width: usize) -> TunerError {
    TunerError::Infeasible {
        reason: format!(
            "a budget of {budget} is below the least size of the first design: its model has {width} coefficients, \
             so it needs {} measurements",
            width + 1
        ),
        hint: format!("allow {} or more with --budget, or give a smaller model with --model", 2 * width),
    }
}
