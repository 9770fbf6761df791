//! Closed forms of the naive strategy: one launch per statement and time step, a block of points per tile.
//!
//! A tile reads, of every level that its statement reads, the union of its block shifted by all offsets, and writes its
//! block; nothing is staged in fast memory. Each statement has counts of its own.

use crate::counts::accounting::Accounting;
use crate::counts::bounds::CountBounds;
use crate::counts::direct::Shares;
use crate::counts::multilinear::Multilinear;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::TileCounts;
use crate::counts::union::union;
use crate::counts::work::{LeastWork, TileWork};
use crate::geometry::{
    ADDRESS_REGISTERS, Threads, blocks_of, direct_points_at_once, direct_resident_threads, operand_registers,
    register_bound,
};
use polyhedral::program::FieldId;
use std::collections::BTreeMap;

/// Registers for the places of several points, beside those of one.
const PLACE_REGISTERS: i64 = 24;

/// The forms.
#[derive(Debug, Clone)]
pub struct Blocks {
    dimension: usize,
    steps: i64,
    on: Multiprocessor,
    word_bytes: i64,
    statements: Vec<OfStatement>,
    accounting: Accounting,
}

#[derive(Debug, Clone)]
struct OfStatement {
    /// First and last point of the domain, per dimension.
    domain: [(i64, i64); 3],
    /// Cells that a block reads, over all fields and levels.
    words_in: Multilinear,
    reads: i64,
    /// Fields and levels that are read.
    levels: usize,
    registers: i64,
    /// Registers of a thread by the points that it computes at once, where these are several.
    of_several: [i64; 9],
    /// Points at once by a thread's share, 0 to 8.
    at_once: [i64; 9],
    /// Threads of a multiprocessor that the compiler leaves room for.
    resident: i64,
    total_iterations: i64,
}

impl Blocks {
    /// The forms for a problem.
    pub fn new(problem: &Problem, on: &Multiprocessor) -> Self {
        let program = &problem.program;
        let statements = (0..program.statements.len()).map(|k| {
            let statement = &program.statements[k];
            let bounds = program.domain(k, &problem.size);
            let mut domain = [(0, 0); 3];
            bounds.iter().zip(&mut domain).for_each(|((low, end), entry)| *entry = (*low, end - 1));
            let mut levels: BTreeMap<(FieldId, i64), Vec<[i64; 3]>> = BTreeMap::new();
            for read in &statement.reads {
                let mut offset = [0; 3];
                offset[..read.offset.len()].copy_from_slice(&read.offset);
                levels.entry((read.field, read.time)).or_default().push(offset);
            }
            OfStatement {
                domain,
                levels: levels.len(),
                words_in: words_in(&levels.into_values().collect::<Vec<_>>(), problem.dimension()),
                reads: statement.reads.len() as i64,
                registers: operand_registers(program, k, 1) as i64 + ADDRESS_REGISTERS,
                of_several: std::array::from_fn(|points| {
                    let several = if points > 1 { PLACE_REGISTERS } else { 0 };
                    operand_registers(program, k, points.max(1) as i64) as i64 + ADDRESS_REGISTERS + several
                }),
                at_once: std::array::from_fn(|share| direct_points_at_once(program, k, share.max(1) as i64)),
                resident: direct_resident_threads(program, k),
                total_iterations: problem.steps * bounds.iter().map(|(low, end)| end - low).product::<i64>(),
            }
        });
        Blocks {
            dimension: problem.dimension(),
            steps: problem.steps,
            on: *on,
            word_bytes: problem.element().bytes() as i64,
            statements: statements.collect(),
            accounting: Accounting::new(problem),
        }
    }

    /// Number of statements: there are as many counts.
    pub fn statements(&self) -> usize {
        self.statements.len()
    }

    /// The counts of statement `k` for blocks of these sizes; sizes of dimensions that do not exist are 1, and a size
    /// of 0 is the whole dimension.
    #[inline]
    pub fn counts(&self, k: usize, sizes: [i64; 3]) -> TileCounts {
        let statement = &self.statements[k];
        let block = self.block(k, sizes);
        let along = |d: usize| {
            let (first, last) = statement.domain[d];
            if sizes[d] == 0 { 1 } else { last / sizes[d] - first / sizes[d] + 1 }
        };
        let tiles = (0..self.dimension).map(along).product::<i64>();
        let points = block[0] * block[1] * block[2];
        let threads: i64 = self.threads_along(block).iter().product();
        let registers = statement.registers.min(self.bound(threads));
        TileCounts {
            wavefronts: self.steps,
            tiles_per_wavefront: tiles,
            tiles: tiles * self.steps,
            sub_tiles: 1,
            rows: 1,
            iterations: points,
            copies: 0,
            lane_rounds: (points + self.on.lanes - 1) / self.on.lanes,
            words_in: statement.words_in.at(block),
            words_out: points,
            fast_words: points * (statement.reads + 1),
            barriers: 0,
            tile_bytes: 0,
            threads,
            registers,
            word_bytes: self.word_bytes,
            total_iterations: statement.total_iterations,
        }
    }

    /// Registers of a thread of statement `k` that computes one point at a time, however many threads there are.
    pub fn registers_of_one_point(&self, k: usize) -> i64 {
        self.statements[k].registers.min(self.on.registers_per_thread)
    }

    /// Registers that the compiler may give each of so many threads.
    fn bound(&self, threads: i64) -> i64 {
        register_bound(threads, self.on.registers_per_sm, self.on.registers_per_thread)
    }

    fn threads_along(&self, block: [i64; 3]) -> [i64; 3] {
        Threads::rule(&block[..self.dimension], 2 * block[0], self.on.threads_per_block)
    }

    /// Points of a block along each dimension.
    fn block(&self, k: usize, sizes: [i64; 3]) -> [i64; 3] {
        let mut block = [1; 3];
        for d in 0..self.dimension {
            let (first, last) = self.statements[k].domain[d];
            block[d] = if sizes[d] == 0 { last - first + 1 } else { sizes[d] };
        }
        block
    }

    /// What the blocks of statement `k` execute.
    pub fn work(&self, k: usize, sizes: [i64; 3]) -> TileWork {
        let block = self.block(k, sizes);
        let threads = self.threads_along(block);
        let along = |d: usize| (block[d] + threads[d] - 1) / threads[d];
        let statement = &self.statements[k];
        let share = along(0);
        let at_once = statement.at_once[share.clamp(1, 8) as usize];
        let shares = Shares {
            points: block.iter().product(),
            words: statement.words_in.at(block) + block.iter().product::<i64>(),
            threads: threads.iter().product(),
            share,
            passes: (1..self.dimension).map(along).product(),
            at_once,
        };
        let (registers, needed) = self.registers_given_and_needed(k, sizes);
        TileWork {
            full: self.accounting.direct(k, &shares, statement.levels),
            full_sub_tiles: 1.0,
            full_launches: self.steps as f64,
            registers,
            needed,
            ..TileWork::default()
        }
    }

    /// Registers that the compiler may give a thread of statement `k`, and those that it needs at most.
    pub fn registers_given_and_needed(&self, k: usize, sizes: [i64; 3]) -> (i64, i64) {
        let block = self.block(k, sizes);
        let threads = self.threads_along(block);
        let statement = &self.statements[k];
        let share = (block[0] + threads[0] - 1) / threads[0];
        let at_once = statement.at_once[share.clamp(1, 8) as usize];
        let threads: i64 = threads.iter().product();
        // The compiler leaves room for so many blocks.
        let room = self.on.registers_per_sm / blocks_of(statement.resident, threads) / threads;
        let bound = self.bound(threads).min(room / 8 * 8);
        (statement.of_several[at_once as usize].min(bound), statement.registers.min(self.bound(threads)))
    }

    /// What all blocks of statement `k` from these sizes on execute at least.
    pub fn least_work(&self, k: usize, low: [i64; 3]) -> LeastWork {
        let statement = &self.statements[k];
        let (points, levels) = (self.block(k, low).iter().product::<i64>(), statement.levels);
        let point = self.accounting.least_direct(k, levels);
        let sub_tile = point.times(points as f64);
        LeastWork {
            sub_tile,
            tile: sub_tile,
            all: point.times(statement.total_iterations as f64),
            launches: self.steps as f64,
            edges: None,
        }
    }

    /// Registers of a thread at least, over all statements and blocks.
    pub fn least_registers(&self) -> i64 {
        self.statements.iter().map(|statement| statement.registers).max().unwrap_or(0)
    }

    /// Bounds of the counts of statement `k` over all sizes between `low` and `high`.
    pub fn bounds(&self, k: usize, low: [i64; 3], high: [i64; 3]) -> CountBounds {
        let statement = &self.statements[k];
        let (small, large) = (self.counts(k, low), self.counts(k, high));
        let steps = self.steps as f64;
        let interval = |value: fn(&TileCounts) -> i64| (value(&small) as f64, value(&large) as f64);
        let w = (large.tiles_per_wavefront as f64, small.tiles_per_wavefront as f64);
        let words = interval(|counts| counts.words_in + counts.words_out);
        let rounds = interval(|counts| counts.lane_rounds);
        let total_iterations = statement.total_iterations as f64;
        // A block reads at least itself of every level.
        let all_words = total_iterations * (statement.levels as f64 + 1.0);
        CountBounds {
            wavefronts: steps,
            tiles_per_wavefront: w,
            sub_tiles: (1.0, 1.0),
            lane_rounds: rounds,
            tile_rounds: rounds,
            words,
            tile_words: words,
            barriers: 0.0,
            all_rounds: total_iterations / self.on.lanes as f64,
            all_words,
            total_words: ((steps * w.0 * words.0).max(all_words), steps * w.1 * words.1),
            total_barriers: (0.0, 0.0),
            fast_per_iteration: ((statement.reads + 1) as f64, (statement.reads + 1) as f64),
            total_iterations,
        }
    }
}

/// Cells of the unions of a block shifted by the offsets of each level, for all blocks: beyond the spread of the
/// offsets, the volume of a union of boxes is multilinear in their sizes.
fn words_in(levels: &[Vec<[i64; 3]>], dimension: usize) -> Multilinear {
    let length = [0, 1, 2].map(|d| {
        let along = || levels.iter().flatten().map(move |offset| offset[d]);
        let spread = along().max().unwrap_or(0) - along().min().unwrap_or(0);
        if d < dimension { spread as usize + 2 } else { 1 }
    });
    Multilinear::new([1; 3], length, |block| {
        levels.iter().map(|offsets| union(offsets, block, dimension)).sum()
    })
}
