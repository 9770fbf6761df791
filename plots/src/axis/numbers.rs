//! Numbers of an axis as text: with as many decimals as the step needs, a common factor, a unit of time.

use super::ruler::SMALLEST;

/// A multiple of a step as one would write it.
pub(super) fn rounded(value: f64, step: f64) -> f64 {
    let decimals = decimals(step);
    if decimals > 12 || value.abs() > 1e15 {
        value
    } else {
        format!("{value:.decimals$}").parse().unwrap_or(value)
    }
}

/// Decimals that a multiple of the step needs.
fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 300.0) as usize
}

pub(super) fn with_decimals(value: f64, step: f64) -> String {
    let decimals = decimals(step).min(15);
    let text = format!("{value:.decimals$}");
    if text.chars().all(|letter| matches!(letter, '-' | '0' | '.')) { "0".to_owned() } else { text }
}

/// A number of a logarithmic axis.
pub(super) fn plain(value: f64) -> String {
    if (1e-4..1e6).contains(&value) {
        let text = format!("{value:.9}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:e}").chars().take(12).collect()
    }
}

/// The factor that labels of great and small numbers leave to the title.
pub(super) fn common_factor(most: f64) -> (f64, String) {
    if (1e-3..1e6).contains(&most) || most < SMALLEST {
        return (1.0, String::new());
    }
    let power = 3 * (most.log10() / 3.0).floor() as i32;
    (10_f64.powi(power), format!(", × 1e{power}"))
}

/// The unit of a time in seconds, and how many seconds it has.
pub(super) fn time_unit(most: f64) -> (&'static str, f64) {
    [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)]
        .into_iter()
        .find(|(_, unit)| most >= *unit)
        .unwrap_or(("ns", 1e-9))
}
