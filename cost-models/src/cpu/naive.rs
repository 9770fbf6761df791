//! The strategy `naive` on a CPU: one sweep over the whole grid per statement and time step.
//!
//! ```text
//! T_alg = steps * sum over statements of ( T_sync + share * (calls + runs + blocks + lines * line_s(stored / threads)) )
//! ```
//!
//! A call computes one box of `s0 * s1 * s2` points (0: the whole dimension), in the same rows at once as a tile's.
//! `share`: the part of the boxes that the busiest thread has, `ceil(boxes / threads) / boxes`. Every sweep moves each
//! line that it reads or writes from wherever the grid lies; [`CpuCalibration::line_s`](crate::machine::CpuCalibration)
//! is what such a line costs beyond the same rows in a cache.

use super::{CpuTime, LINE_BYTES, StatementCode};
use crate::time::{Prediction, Terms};

impl CpuTime {
    /// The prediction for boxes of these sizes; 0: the whole dimension.
    pub fn naive(&self, sizes: [i64; 3]) -> Prediction {
        let mut terms = Terms::default();
        let line_s = self.cpu.line_s(self.grid_bytes() / self.threads as f64);
        for code in &self.code {
            let domain: Vec<(i64, i64)> = code.domain.clone();
            if domain.iter().any(|(low, high)| high <= low) {
                terms.launch += self.t_sync_s;
                continue;
            }
            let pieces = |d: usize| cut(domain[d], sizes[d]);
            let boxes: f64 = (0..domain.len()).map(|d| pieces(d).len() as f64).product();
            let share = (boxes / self.threads as f64).ceil() / boxes;
            terms.compute += share * self.sweep_s(code, sizes);
            terms.barrier += share * boxes * self.body.call_s;
            let points: f64 = domain.iter().map(|(low, high)| (high - low) as f64).product();
            terms.transfer += share * points * code.sweep_bytes / LINE_BYTES * line_s;
            terms.launch += self.t_sync_s;
        }
        let steps = self.steps as f64;
        let terms = Terms {
            compute: steps * terms.compute,
            transfer: steps * terms.transfer,
            barrier: steps * terms.barrier,
            launch: steps * terms.launch,
        };
        Prediction { seconds: terms.sum(), terms, ideal_s: self.ideal_s() }
    }

    /// Bytes of all stored levels of the whole grid.
    fn grid_bytes(&self) -> f64 {
        self.stored_bytes * self.size.iter().map(|&extent| extent as f64).product::<f64>()
    }

    /// Seconds of all runs and blocks of one sweep of a statement on one thread.
    fn sweep_s(&self, code: &StatementCode, sizes: [i64; 3]) -> f64 {
        let last = self.dimension() - 1;
        let (mut pieces, mut blocks, mut short) = (0.0, 0.0, 0.0);
        for (first, end) in cut(code.domain[last], sizes[last]) {
            if end - first < code.block && last > 0 {
                short += (end - first) as f64;
            } else {
                blocks += if last == 0 {
                    (end - first + code.block - 1) as f64 / code.block as f64
                } else {
                    ((end - first + first.rem_euclid(code.block)) as f64 / code.block as f64).ceil()
                };
            }
            pieces += 1.0;
        }
        if last == 0 {
            let (_, v) = code.variants[0];
            return pieces * self.body.runs[v].run_s + blocks * self.body.runs[v].block_s;
        }
        let middle = if last == 2 { (code.domain[1].1 - code.domain[1].0) as f64 } else { 1.0 };
        let (mut seconds, mut rows) = (0.0, 0.0);
        for (first, end) in cut(code.domain[0], sizes[0]) {
            let mut rest = end - first;
            rows += rest as f64;
            for &(at_once, v) in &code.variants {
                let run = &self.body.runs[v];
                seconds += (rest / at_once) as f64 * middle * (pieces * run.run_s + blocks * run.block_s);
                rest %= at_once;
            }
        }
        seconds + rows * middle * short * self.body.point_s
    }
}

/// The pieces, half open, into which multiples of `size` cut a half-open range; 0 does not cut.
fn cut((low, high): (i64, i64), size: i64) -> Vec<(i64, i64)> {
    if size == 0 {
        return vec![(low, high)];
    }
    (low.div_euclid(size)..=(high - 1).div_euclid(size))
        .map(|block| ((block * size).max(low), ((block + 1) * size).min(high)))
        .collect()
}
