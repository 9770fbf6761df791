//! Box sizes of the strategy `naive` on a CPU: few, so that every candidate is evaluated.

use super::{Goal, evaluation, tuned};
use crate::tuned::{Certificate, Choice, Method, Tuned};
use cost_models::cpu::CpuTime;
use cost_models::time::Prediction;
use hhc_codegen::TileSizes;
use hhc_codegen::strategy::LARGEST_SIZE;
use std::time::Instant;

const NAMES: [&str; 3] = ["s0", "s1", "s2"];

/// Sizes by name; missing ones are 0, the whole dimension.
pub(super) fn sizes(tile: &TileSizes) -> [i64; 3] {
    NAMES.map(|name| tile.get(name).unwrap_or(0))
}

/// Powers of two below the extent. The innermost dimension of several is not cut: rows only become shorter.
fn candidates(model: &CpuTime, d: usize) -> Vec<i64> {
    if d > 0 && d + 1 == model.dimension() {
        return vec![0];
    }
    let least = if model.dimension() == 1 { model.block() } else { 1 };
    let mut sizes: Vec<i64> = std::iter::successors(Some(least), |size| Some(2 * size))
        .take_while(|&size| size < model.size()[d] && size <= LARGEST_SIZE)
        .collect();
    sizes.push(0);
    sizes
}

/// The best of all.
pub(super) fn tune(model: &CpuTime, method: Method, goal: Goal<'_>) -> Tuned {
    let start = Instant::now();
    let mut best: Option<(f64, Prediction, [i64; 3])> = None;
    let mut evaluated = 0;
    let inner = |d: usize| if d < model.dimension() { candidates(model, d) } else { vec![0] };
    for &s0 in &candidates(model, 0) {
        for &s1 in &inner(1) {
            for &s2 in &inner(2) {
                let prediction = model.naive([s0, s1, s2]);
                evaluated += 1;
                let value = goal.value(model, &prediction);
                if best.is_none_or(|(known, ..)| value < known) {
                    best = Some((value, prediction, [s0, s1, s2]));
                }
            }
        }
    }
    let (value, prediction, sizes) = best.unwrap_or_else(|| {
        let prediction = model.naive([0; 3]);
        (goal.value(model, &prediction), prediction, [0; 3])
    });
    let certificate =
        Certificate { value, bound: Some(value), evaluated, nodes: 0, pruned: 0, candidates: evaluated };
    let tile = TileSizes::new(NAMES.into_iter().zip(sizes).take(model.dimension()));
    let choice = Choice { strategy: "naive", tile, k: 1 };
    tuned(choice, evaluation(model, prediction, goal), certificate, method, start)
}
