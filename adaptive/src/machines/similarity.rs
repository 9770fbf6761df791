//! How alike machines are, as a function sees them (Table 3.2).

use super::fleet::Fleet;

/// The cosine of the angle between machines, for each pair, in some features of theirs, each scaled to [-1, 1] over the fleet.
/// A machine in the middle of all has no direction: it is as far from all others, 0, but from itself.
pub fn similarities(fleet: &Fleet, features: &[usize]) -> Vec<Vec<f64>> {
    let scaled = |at: usize| -> Vec<f64> {
        let values = || fleet.machines.iter().map(|machine| machine.features[at]);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        values().map(|value| crate::svm::scaled(value, [low, high])).collect()
    };
    let columns: Vec<Vec<f64>> = features.iter().map(|&at| scaled(at)).collect();
    let product = |a: usize, b: usize| columns.iter().map(|column| column[a] * column[b]).sum::<f64>();
    let count = fleet.machines.len();
    let cosine = |a: usize, b: usize| {
        let length = (product(a, a) * product(b, b)).sqrt();
        match () {
            () if a == b => 1.0,
            () if length > 0.0 => product(a, b) / length,
            () => 0.0,
        }
    };
    (0..count).map(|a| (0..count).map(|b| cosine(a, b)).collect()).collect()
}
