//! What a step leaves behind: for people and for programs.

use super::proposal::{Choice, Proposal};
use super::step::Step;
use crate::run::{Entry, Run};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

/// The entry of a step; 0 is the look back at all measurements.
pub(super) fn entry(
    number: usize,
    step: &Step,
    proposal: Option<&Proposal>,
    choice: &Choice,
    run: &Run<'_>,
) -> Entry {
    let space = run.space;
    let values = |point: &crate::space::Point| {
        let pairs = space.parameters().iter().zip(space.values(point));
        Json::Object(
            pairs
                .map(|(parameter, value)| (parameter.name().to_owned(), json!(value)))
                .collect::<Map<_, _>>(),
        )
    };
    let name = |place: &usize| space.parameters()[*place].name();
    let mut text = match number {
        0 => format!("all measurements, no factor fixed: {}\n", step.formula),
        _ => format!("step {number}: {}\n", step.formula),
    };
    let efficiency = step.d_efficiency.map(|d| format!(", D-efficiency {d:.3e}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "design: {} points of {} candidates{efficiency}; {} of {} measurements used",
        step.design.len(),
        step.candidates.len(),
        run.trials().len(),
        run.budget()
    );
    let design: Vec<Json> = step
        .design
        .iter()
        .map(|point| json!({"configuration": values(point), "measured": run.response_at(point)}))
        .collect();
    let decision = match choice {
        Choice::Stop => "stop".to_owned(),
        Choice::Fix(factors) if factors.is_empty() => "nothing to fix: stop".to_owned(),
        Choice::Fix(factors) => format!("fix {}", factors.iter().map(name).collect::<Vec<_>>().join(", ")),
    };
    let analysis = proposal.map(|proposal| {
        text.push_str(&proposal.text);
        json!({
            "box_cox": proposal.box_cox,
            "lambda": proposal.lambda,
            "anova": proposal.anova,
            "significant": proposal.refit.to_string(),
            "coefficients": proposal.coefficients.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
            "best": values(&proposal.best),
            "predicted": proposal.predicted,
            "measured": run.response_at(&proposal.best),
        })
    });
    let _ = writeln!(text, "decision: {decision}");
    let fixed: Vec<&str> = match choice {
        Choice::Fix(factors) => factors.iter().map(name).collect(),
        Choice::Stop => Vec::new(),
    };
    let data = json!({
        "step": number,
        "model": step.formula.to_string(),
        "candidates": step.candidates.len(),
        "d_efficiency": step.d_efficiency,
        "design": design,
        "analysis": analysis,
        "decision": decision,
        "fixed": fixed,
        "used": run.trials().len(),
    });
    Entry { text, data }
}
