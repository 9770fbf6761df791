//! Energy on a CPU: lines from memory, operations, values read and written, launches, and what flows whatever happens.

use super::time::{CpuTime, LINE_BYTES};
use crate::energy::EnergyTerms;
use crate::machine::Energy;
use crate::time::Prediction;
use hhc_codegen::counts::cores::RowCode;

/// How often what costs energy happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Events {
    /// Words of 4 bytes that all threads move: each of them as much as the busiest one, whose time is predicted.
    pub words: f64,
    /// Words of 4 bytes that statements read and write.
    pub accesses: f64,
    /// Operations, each as many times as a word of its type has 4 bytes.
    pub operations: f64,
    /// Parallel regions.
    pub launches: f64,
}

impl CpuTime {
    pub(super) fn events(&self, prediction: &Prediction) -> Events {
        let points: f64 = self.cores.code.iter().map(RowCode::points).sum();
        let (steps, words) = (self.cores.steps as f64, self.word_bytes / 4.0);
        let per_statement = |count: i64| count as f64 / self.cores.code.len() as f64 * points * steps * words;
        let line_s = self.body.memory_line_s;
        let lines = if line_s > 0.0 { prediction.terms.transfer / line_s } else { 0.0 };
        Events {
            words: lines * self.cores.threads as f64 * LINE_BYTES / 4.0,
            accesses: per_statement(self.body.reads + self.cores.code.len() as i64),
            operations: per_statement(self.body.flops),
            launches: prediction.terms.launch / self.t_sync_s.max(1e-12),
        }
    }

    /// Energy in joules of an execution with this prediction, by constants of the machine.
    pub fn energy(&self, prediction: &Prediction, constants: &Energy) -> EnergyTerms {
        let events = self.events(prediction);
        EnergyTerms {
            global: constants.e_glob_j * events.words,
            shared: constants.e_shared_j * events.accesses,
            iterations: constants.e_flop_j * events.operations,
            barriers: 0.0,
            // In this order, because the product is rounded.
            launches: constants.e_launch_j * prediction.terms.launch / self.t_sync_s.max(1e-12),
            fixed: constants.p_static_w * prediction.seconds,
        }
    }
}
