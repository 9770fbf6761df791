//! Ticks that an axis might have, the densest ones first.

use super::numbers::rounded;
use super::ruler::SMALLEST;

/// Ticks that might be.
enum Multiples {
    /// Of a step.
    Step(f64),
    /// Of powers of ten, every so many of them.
    Powers(&'static [f64], usize),
}

pub(super) struct Candidate {
    pub step: Option<f64>,
    multiples: Multiples,
}

impl Candidate {
    pub(super) fn values(&self, low: f64, high: f64) -> Vec<f64> {
        match self.multiples {
            Multiples::Step(step) => {
                let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
                // Rounded to the step's own decimals, so that 3 * 0.1 is 0.3.
                (0..=(last - first).clamp(-1.0, 100.0) as i64)
                    .map(|at| rounded((first + at as f64) * step, step))
                    .collect()
            }
            Multiples::Powers(digits, every) => {
                let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
                let powers = powers.filter(|power| power.rem_euclid(every as i32) == 0);
                let values =
                    powers.flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
                values.filter(|value| (low..=high).contains(value)).collect()
            }
        }
    }
}

/// The densest ticks first.
pub(super) fn candidates(low: f64, high: f64, logarithmic: bool, most: usize, whole: bool) -> Vec<Candidate> {
    let linear = |most: usize| {
        let steps = (1..=most).rev().map(move |count| {
            let step = nice_step((high - low) / count as f64);
            if whole { step.max(1.0) } else { step }
        });
        let mut steps: Vec<f64> = steps.collect();
        steps.dedup();
        steps.into_iter().map(|step| Candidate { step: Some(step), multiples: Multiples::Step(step) })
    };
    if !logarithmic {
        return linear(most).collect();
    }
    let digits: [(&'static [f64], usize); 8] = [
        (&[1.0, 2.0, 5.0], 1),
        (&[1.0, 3.0], 1),
        (&[1.0], 1),
        (&[1.0], 2),
        (&[1.0], 5),
        (&[1.0], 10),
        (&[1.0], 50),
        (&[1.0], 100),
    ];
    let powers =
        digits.map(|(digits, every)| Candidate { step: None, multiples: Multiples::Powers(digits, every) });
    let (few, many): (Vec<Candidate>, Vec<Candidate>) =
        powers.into_iter().partition(|candidate| candidate.values(low, high).len() < 3);
    let many: Vec<Candidate> =
        many.into_iter().filter(|candidate| candidate.values(low, high).len() <= most + 2).collect();
    if many.is_empty() { linear(most.min(6)).chain(few).collect() } else { many }
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn nice_step(step: f64) -> f64 {
    if !(step.is_finite() && step >= SMALLEST) {
        return 1.0;
    }
    let power = step.log10().floor() as i32;
    let nice = |factor: f64| rounded(factor * 10_f64.powi(power), 10_f64.powi(power));
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(nice)
        .find(|nice| *nice >= step * 0.999_999)
        .unwrap_or(10_f64.powi(power + 1))
}
