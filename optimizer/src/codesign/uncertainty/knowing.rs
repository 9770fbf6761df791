//! What knowing a constant is worth.

use super::factors::shuffle;
use crate::sample::Random;

/// Values of a constant that are told apart.
const BINS: usize = 8;
/// Times that the bins are dealt out at random.
const DEALS: usize = 20;

/// By how much the least mean regret falls where the choice may depend on a constant, of which `at` is the share of its
/// distribution in each sample.
pub(super) fn value_of_knowing(regrets: &[Vec<f64>], at: Vec<f64>, seed: u64) -> f64 {
    let designs = regrets.first().map_or(0, Vec::len);
    let least = |samples: &[usize]| {
        let sum = |design: usize| samples.iter().map(|&sample| regrets[sample][design]).sum::<f64>();
        (0..designs).map(sum).fold(f64::INFINITY, f64::min)
    };
    let number = regrets.len();
    let bins = |order: &[usize]| {
        let size = number.div_ceil(BINS).max(1);
        order.chunks(size).map(least).sum::<f64>() / number as f64
    };
    let mut order: Vec<usize> = (0..number).collect();
    let without = least(&order) / number as f64;
    order.sort_by(|&a, &b| at[a].total_cmp(&at[b]));
    let gain = without - bins(&order);
    let mut random = Random::new(seed ^ 0x5eed);
    let mut by_chance = 0.0;
    for _ in 0..DEALS {
        shuffle(&mut order, &mut random);
        by_chance += (without - bins(&order)) / DEALS as f64;
    }
    (gain - by_chance).max(0.0)
}
