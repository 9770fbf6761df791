//! What a step leaves behind: for people and for programs.

use super::step::{Choice, Proposal, Step};
use crate::run::{Entry, Run};
use serde_json::{Map, Value as Json, json};
use std::fmt::Write;

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
