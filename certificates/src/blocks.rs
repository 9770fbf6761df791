//! Blocks of points, one launch per statement and step: what is known of many of them at once.
//!
//! A block reads the union of itself, shifted by the offsets of its reads, of each level: the larger it is, the more, and
//! never less than itself of each.

use crate::interval::Interval;
use crate::model::Model;
use crate::shapes::{LeastWork, OfBox, PointWork, Shapes, pieces};
use hhc_codegen::counts::{Problem, TileCounts, TileForms, Work};
use hhc_codegen::geometry::{ADDRESS_REGISTERS, Threads, operand_registers};
use std::collections::BTreeSet;

pub(crate) struct Blocks {
    dimension: usize,
    steps: i64,
    lanes: i64,
    threads_per_block: i64,
    registers: i64,
    statements: Vec<OfStatement>,
}

struct OfStatement {
    /// First and last point, by dimension.
    domain: Vec<(i64, i64)>,
    levels: i64,
    reads: i64,
    total: i64,
    /// What a point executes.
    point: Work,
}

impl Blocks {
    pub fn new(problem: &Problem, model: &Model) -> Blocks {
        let program = &problem.program;
        let dimension = problem.dimension();
        let on = model.limits.multiprocessor();
        let statements: Vec<OfStatement> = (0..program.statements.len())
            .map(|k| {
                let reads = &program.statements[k].reads;
                let domain = program.domain(k, &problem.size);
                let levels: BTreeSet<_> = reads.iter().map(|read| (read.field, read.time)).collect();
                let terms = problem.terms;
                let own = PointWork::new(problem, k, terms.direct_at_once.min(8));
                let place = terms.direct_point[dimension - 1] + terms.direct_read * own.loads;
                OfStatement {
                    levels: levels.len() as i64,
                    reads: reads.len() as i64,
                    total: problem.steps * domain.iter().map(|(low, end)| end - low).product::<i64>(),
                    domain: domain.into_iter().map(|(low, end)| (low, end - 1)).collect(),
                    point: Work { words: (levels.len() + 1) as f64, ..own.with(place) },
                }
            })
            .collect();
        let registers = (0..statements.len()).map(|k| operand_registers(program, k, 1) as i64);
        let registers = registers.max().unwrap_or(0) + ADDRESS_REGISTERS;
        Blocks {
            dimension,
            steps: problem.steps,
            lanes: on.lanes,
            threads_per_block: on.threads_per_block,
            registers,
            statements,
        }
    }
}

impl Shapes for Blocks {
    fn kernels(&self) -> usize {
        self.statements.len()
    }

    fn of_box(&self, forms: &dyn TileForms, kernel: usize, low: [i64; 3], high: [i64; 3]) -> OfBox {
        let own = &self.statements[kernel];
        let w = (own.domain.iter().enumerate())
            .map(|(d, &domain)| pieces(domain, low[d], high[d]))
            .fold((1, 1), |w, along| (w.0 * along.0, w.1 * along.1));
        let (small, large) = (forms.counts(kernel, low), forms.counts(kernel, high));
        let rounds = Interval::between(small.lane_rounds, large.lane_rounds);
        let of = |counts: &TileCounts| counts.words_in + counts.words_out;
        let words = Interval::between(of(&small), of(&large));
        let total = Interval::of(own.total);
        let all_words = total * Interval::of(own.levels + 1);
        let blocks = |w: i64| Interval::of(self.steps) * Interval::of(w);
        OfBox {
            wavefronts: self.steps,
            w,
            q: Interval::ONE,
            rounds,
            tile_rounds: rounds,
            words,
            tile_words: words,
            barriers: 0,
            all_rounds: total / Interval::of(self.lanes),
            all_words,
            total_words: (blocks(w.0) * words).max(all_words),
            total_barriers: Interval::ZERO,
            fast: Interval::of(own.reads + 1),
            total,
        }
    }

    fn least_work(
        &self,
        _: &dyn TileForms,
        kernel: usize,
        _: &OfBox,
        low: [i64; 3],
        _: [i64; 3],
    ) -> LeastWork {
        let own = &self.statements[kernel];
        let points: i64 = low[..self.dimension].iter().product();
        LeastWork {
            tile: own.point.times(points as f64),
            all: own.point.times(own.total as f64),
            edges: None,
            launches: self.steps as f64,
        }
    }

    fn threads(&self, low: i64, high: i64, others: [i64; 2]) -> (i64, i64, i64) {
        let of = |first: i64| {
            let block = [first, others[0], others[1]];
            Threads::rule(&block[..self.dimension], 2 * first, self.threads_per_block).iter().product::<i64>()
        };
        let (fewest, most) = (of(low), of(high));
        let registers = self.registers;
        // In one dimension blocks go in equal passes of at least half of the 256 threads that are preferred.
        if self.dimension == 1 && low < high {
            return (fewest.min(128), most.max(256), registers);
        }
        (fewest, most, registers)
    }
}
