//! What the warps of a block execute that works in memory directly.

use super::accounting::{Accounting, up};
use super::work::Work;
use crate::geometry::WARP;

/// How a block without memory of its own shares its points.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Points of the block.
    pub points: i64,
    /// Words that it reads and writes, each once.
    pub words: i64,
    /// Its threads.
    pub threads: i64,
    /// Points of a thread along dimension 0.
    pub share: i64,
    /// Columns of so many points that a thread has.
    pub passes: i64,
    /// Points of a column that are computed at once, at most.
    pub at_once: i64,
}

impl Accounting {
    /// A block that works in memory directly, with so many threads and `levels` levels to read.
    pub fn direct(&self, k: usize, shares: &Shares, levels: usize) -> Work {
        let statement = &self.statements[k];
        let warps = up(shares.threads, WARP) as f64;
        let at_once = shares.at_once.min(self.terms.direct_at_once);
        let (passes, mine) = (shares.passes as f64, (shares.passes * shares.share) as f64);
        let batches = passes * up(shares.share, at_once) as f64;
        let loads = statement.loads[at_once as usize] / at_once as f64;
        let d = self.dimension - 1;
        let thread = self.terms.direct_thread[d]
            + passes * self.terms.direct_pass[d]
            + if shares.share > 1 { batches * self.terms.direct_batch[d] } else { 0.0 };
        let overhead = self.terms.direct_point[d] + self.terms.direct_read * loads;
        Work {
            issued: warps * (thread + mine * (overhead + loads + 1.0 + statement.operations)),
            arithmetic: warps * mine * statement.operations,
            shared: warps * mine * (loads + 1.0) * statement.words,
            // What neighbouring blocks read, too, the second-level cache has.
            words: (shares.points * (levels as i64 + 1)) as f64,
            stored: 0.0,
            cached: shares.words as f64,
            ahead: 0.0,
            beside: 0.0,
            chain: self.terms.copying * (thread + mine * overhead)
                + self.terms.dependent * mine * statement.operations,
            // Lines and planes of the operands are new to the multiprocessor one after the other.
            waits: 0.0,
            far_waits: batches * (self.dimension as f64 - 1.0).max(1.0),
            barriers: 0.0,
        }
    }

    /// What a point of statement `k` takes at least where it is computed in memory directly.
    pub fn least_direct(&self, k: usize, levels: usize) -> Work {
        let (statement, lane) = (&self.statements[k], WARP as f64);
        let at_once = 1..=self.terms.direct_at_once.min(8);
        let loads = at_once.map(|points| statement.loads[points as usize] / points as f64);
        let loads = loads.fold(f64::INFINITY, f64::min);
        let overhead = self.terms.direct_point[self.dimension - 1] + self.terms.direct_read * loads;
        Work {
            issued: (overhead + loads + 1.0 + statement.operations) / lane,
            arithmetic: statement.operations / lane,
            shared: (loads + 1.0) * statement.words / lane,
            words: (levels + 1) as f64,
            ..Work::default()
        }
    }
}
