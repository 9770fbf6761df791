//! What a step proposes, and who decides about it.

use crate::doe::formula::Formula;
use crate::doe::{Anova, BoxCox, Interval};
use crate::run::Run;
use crate::space::Point;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

/// What the analysis proposes.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The table of the full model of the step.
    pub anova: Anova,
    /// The transformation of the response.
    pub box_cox: Option<BoxCox>,
    /// The exponent that was used.
    pub lambda: f64,
    /// The model that was fitted again, of the significant terms.
    pub refit: Formula,
    /// Its coefficients by name.
    pub coefficients: Vec<(String, f64)>,
    /// The best point of the subspace that the model predicts.
    pub best: Point,
    /// Its prediction with a 95 % interval, on the scale of the response.
    pub predicted: Option<Interval>,
    /// Places of the factors to fix, most significant first.
    pub fix: Vec<usize>,
    /// Places of the factors that are still free.
    pub free: Vec<usize>,
    /// All this for people.
    pub text: String,
}

/// What is decided about a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Fix these factors to their predicted levels and go on.
    Fix(Vec<usize>),
    /// End the search.
    Stop,
}

/// Decides about proposals.
pub trait Decide {
    /// Decides about a proposal.
    fn decide(&mut self, proposal: &Proposal) -> Choice;
}

/// Who decides at each step; shared, since a searcher may be used again.
pub type Decider = Arc<Mutex<dyn Decide + Send>>;

/// The analysis as text: transformation, table, model, prediction, proposal.
pub(super) fn proposal_text(proposal: &Proposal, run: &Run<'_>) -> String {
    let mut text = String::new();
    let name = |place: &usize| run.space.parameters()[*place].name();
    if let Some(found) = &proposal.box_cox {
        let (low, high) = found.interval;
        let _ = writeln!(
            text,
            "Box-Cox: exponent {:.3} (95 %: {low:.2} to {high:.2}), used {:.3}",
            found.lambda, proposal.lambda
        );
    }
    let _ = write!(text, "{}", proposal.anova);
    let _ = writeln!(text, "significant: {}", proposal.refit);
    let coefficients: Vec<String> =
        proposal.coefficients.iter().map(|(name, value)| format!("{name} {value:.4e}")).collect();
    let _ = writeln!(text, "coefficients: {}", coefficients.join(", "));
    let _ = writeln!(text, "best predicted: {}", run.space.text(&proposal.best));
    if let Some(interval) = &proposal.predicted {
        let _ = writeln!(
            text,
            "  {} {:.4e} (95 %: {:.4e} to {:.4e})",
            run.response(),
            interval.value,
            interval.lower,
            interval.upper
        );
    }
    let fix: Vec<String> = proposal
        .fix
        .iter()
        .map(|place| format!("{}={}", name(place), run.space.value(&proposal.best, *place)))
        .collect();
    let _ = writeln!(
        text,
        "to fix: {}",
        if fix.is_empty() { "nothing is significant".into() } else { fix.join(", ") }
    );
    text
}
