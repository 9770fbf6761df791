//! Figures of evaluations as text.

use crate::report;
use adaptive::Learned;
use adaptive::across_folds::AcrossFolds;
use adaptive::evaluate::Evaluation;
use adaptive::model::Model;

/// A share of 1.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A tree as text; empty for other models.
pub fn tree(model: &Model) -> String {
    match &model.classifier {
        Learned::Tree(tree) => tree.text(&model.variants, &model.feature_names()),
        _ => String::new(),
    }
}

/// Scores on the folds of a scenario.
pub fn across_folds(own: &AcrossFolds) -> String {
    let inputs: usize = own.folds.iter().map(|fold| fold.inputs).sum();
    let single = own.folds.iter().filter(|fold| fold.single).count();
    let lost = |lost: Option<f64>| lost.map_or_else(|| "-".to_owned(), |lost| format!("{lost:.3}"));
    let lines = [
        (
            "held out",
            format!("{inputs} inputs in {} folds; in {single} one variant for all", own.folds.len()),
        ),
        (
            "PAR10",
            format!(
                "{:.1} (best single {:.1}, exhaustive {:.1}), means over the folds",
                own.model, own.best_single, own.exhaustive
            ),
        ),
        ("of the gap lost", format!("{} (0: exhaustive, 1: best single)", lost(own.lost))),
    ];
    report::pairs(&lines)
}

/// An evaluation.
pub fn evaluation(own: &Evaluation) -> String {
    let spread = &own.performance;
    let unsolved =
        if own.unsolved > 0 { format!("; {} that no variant solves", own.unsolved) } else { String::new() };
    let mut lines = vec![
        ("test inputs", format!("{}{unsolved}", own.inputs)),
        (
            "performance",
            format!(
                "{} of exhaustive search (median {}, a tenth below {}, least {})",
                percent(spread.mean),
                percent(spread.median),
                percent(spread.tenth),
                percent(spread.least)
            ),
        ),
        (
            "",
            format!(
                "{} of the inputs reach 90 %, {} reach 70 %",
                percent(spread.above_90),
                percent(spread.above_70)
            ),
        ),
        ("with features", format!("{} when they serve {} calls", percent(own.net.mean), own.calls)),
        ("best single", {
            let closed =
                own.gap_closed.map(|share| format!("; the model closes {} of the gap", percent(share)));
            format!(
                "{} with {}{}",
                own.best_single,
                percent(own.best_single_performance),
                closed.unwrap_or_default()
            )
        }),
        ("right", percent(own.accuracy)),
    ];
    if own.risky > 0 {
        lines.push((
            "risky",
            format!("{} of {} inputs that some variants do not solve", own.risky_solved, own.risky),
        ));
    }
    if let Some(par10) = &own.par10 {
        let closed =
            par10.gap_closed.map(|share| format!("; the model closes {} of the gap", percent(share)));
        let (model, single, best) = (par10.model, par10.best_single, par10.exhaustive);
        let text = format!(
            "{model:.4} (best single {single:.4}, exhaustive {best:.4}){}",
            closed.unwrap_or_default()
        );
        lines.push(("PAR10", text));
    }
    let families: Vec<String> = own
        .families
        .iter()
        .map(|f| format!("{} {} ({})", f.family, percent(f.performance), f.inputs))
        .collect();
    if families.len() > 1 {
        lines.push(("families", report::listed(&families, 90)));
    }
    let header: Vec<String> = ["variant", "performance", "best", "chosen", "fails"]
        .iter()
        .map(|&name| name.to_owned())
        .chain(own.variants.iter().map(|other| format!("-> {}", other.variant)))
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    // The confusion of few variants fits beside the figures.
    let wide = own.variants.len() <= 8;
    let rows: Vec<Vec<String>> = own
        .variants
        .iter()
        .zip(&own.confusion)
        .map(|(single, confusion)| {
            let mut row = vec![
                single.variant.clone(),
                percent(single.performance),
                single.best.to_string(),
                single.chosen.to_string(),
                single.failed.to_string(),
            ];
            if wide {
                row.extend(confusion.iter().map(usize::to_string));
            }
            row
        })
        .collect();
    let header = if wide { &header[..] } else { &header[..5] };
    let right: Vec<usize> = (1..header.len()).collect();
    format!("{}\n{}", report::pairs(&lines), report::table(header, &rows, &right))
}
