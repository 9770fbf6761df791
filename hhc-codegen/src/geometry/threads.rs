//! Which thread computes which points of a row.
//!
//! | dimensions | `threadIdx.x`  | `threadIdx.y`  | `threadIdx.z`  |
//! |------------|----------------|----------------|----------------|
//! | 1          | dimension 0    |                |                |
//! | 2          | dimension 1    | parts of dim 0 |                |
//! | 3          | dimension 2    | dimension 1    | parts of dim 0 |
//!
//! Threads of a warp walk the innermost dimension: neighbours touch neighbouring words, in memory (coalesced) and
//! in shared memory (no bank conflicts). In two and three dimensions a thread computes a column of points along
//! dimension 0, several of them at once, whose common operands it reads only once.

use crate::int_expr::Environment;
use crate::plan::{Kernel, KernelPlan, SIZE_NAMES};
use polyhedral::program::Program;
use std::collections::BTreeSet;

/// Threads along a dimension that is not cut.
const UNCUT: i64 = 128;

/// Threads of a warp.
pub const WARP: i64 = 32;
/// Registers of a thread for places and operands of each further field that a step computes: as many as NVRTC took of three fields without
/// a bound.
pub const OF_ANOTHER_FIELD: i64 = 35;

/// Extents and steps for which widths are measured: none of them cuts a tile.
const LARGE: i64 = 1 << 20;

/// Threads of a block where the tile has work for them: enough for the latencies of one block to be hidden by the
/// others that fit on a multiprocessor, few enough for every thread to have a column of points.
const PREFERRED_THREADS: i64 = 256;

/// The same in three dimensions, where hexagons are so few that a multiprocessor has about one block: one that fills
/// it as far as registers allow.
const PREFERRED_THREADS_3D: i64 = 512;

/// Registers that the operands of a thread may fill; with those for addresses, that is less than 128.
const MOST_OPERAND_REGISTERS: usize = 96;

/// Threads of a multiprocessor that the compiler shall leave room for: 128 registers each, on every device since
/// sm_70.
const RESIDENT_THREADS: i64 = 512;

/// The same where a thread has few operands: 80 registers each. No kernel asks for room for more.
const MORE_RESIDENT_THREADS: i64 = 768;

/// The same for many statements, each of which has places and bounds of its own: 255 registers each.
const FEWER_RESIDENT_THREADS: i64 = 256;

/// Statements up to which rows fit in 128 registers: among the shipped stencils, all of four do.
const FEW_STATEMENTS: usize = 4;

/// Operand registers that, with all others, fit in 80: among the shipped stencils, 34 of them spill.
const FEW_OPERAND_REGISTERS: usize = 32;

/// The threads of a block, by dimension of the grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threads {
    /// Threads along each dimension, slowest first.
    pub per_dimension: Vec<i64>,
}

/// Passes from which on a row in one dimension has the preferred number of threads, whatever its length.
const MOST_PASSES: i64 = PREFERRED_THREADS;

impl Threads {
    /// The rule. `widths` are the numbers of points of the widest row along each dimension, `narrowest` that of the
    /// narrowest row along dimension 0.
    ///
    /// The innermost dimension gets as many threads as it has points, up to `limit`, in equal passes where it has
    /// more; what remains of 256 threads (512 in three dimensions) goes to the middle dimension and then to
    /// dimension 0, there so that each thread has at least two points of the narrowest row.
    pub fn new(widths: &[i64], narrowest: i64, limit: i64) -> Self {
        Threads { per_dimension: Self::rule(widths, narrowest, limit)[..widths.len()].to_vec() }
    }

    /// The rule, for callers that ask often: threads along each of at most three dimensions, 1 where there is none.
    pub fn rule(widths: &[i64], narrowest: i64, limit: i64) -> [i64; 3] {
        let preferred = if widths.len() > 2 { PREFERRED_THREADS_3D } else { PREFERRED_THREADS }.min(limit);
        let in_equal_passes = |count: i64, most: i64| {
            let passes = (count + most - 1) / most.max(1);
            (count + passes - 1) / passes.max(1)
        };
        let mut per_dimension = [1; 3];
        let mut free = preferred;
        for d in (0..widths.len()).rev() {
            let innermost = d + 1 == widths.len();
            per_dimension[d] = if d > 0 || innermost {
                in_equal_passes(widths[d].max(1), free.max(1))
            } else {
                (narrowest / 2).clamp(1, free.max(1))
            };
            if innermost && per_dimension[d] > 32 {
                // Whole warps, so that a warp stays on one line.
                per_dimension[d] = ((per_dimension[d] + 31) / 32 * 32).min(limit);
            }
            free /= per_dimension[d].max(1);
        }
        per_dimension
    }

    /// The widest row in one dimension up to which all rows from `width` points on have as many threads.
    pub fn last_as_many(width: i64, limit: i64) -> i64 {
        let threads = |width: i64| Threads::rule(&[width], width, limit)[0];
        let (own, preferred) = (threads(width), PREFERRED_THREADS.min(limit).max(1));
        // Passes of equal length have as many threads up to `own` points each.
        let mut passes = (width + preferred - 1) / preferred;
        loop {
            let last = passes * own.min(preferred);
            if last < passes * preferred || threads(last + 1) != own {
                return last;
            }
            if passes >= MOST_PASSES {
                // From here on the shortest passes round up to the preferred number.
                return i64::MAX;
            }
            passes += 1;
        }
    }

    /// The threads of a kernel that works in memory directly: one point each where there are enough threads.
    pub fn in_memory(kernel: &Kernel, limit: i64) -> Self {
        let blocks = kernel.blocks.iter().map(|block| (block.variable, 0));
        let nowhere: Environment = blocks.chain([(kernel.rows.variable, 0)]).collect();
        let widths: Vec<i64> = (kernel.instances[0].ranges.iter())
            .map(|range| match (range.low.evaluate(&nowhere), range.high.evaluate(&nowhere)) {
                (Some(low), Some(high)) => high - low + 1,
                _ => UNCUT,
            })
            .collect();
        Threads::new(&widths, 2 * widths[0], limit)
    }

    /// The threads of a kernel that says itself where values live: one point of the widest row each where there are
    /// enough threads. Warps that run parts of their own lie one after the other along the innermost dimension, however
    /// many a block may have.
    pub fn in_parts(plan: &KernelPlan, kernel: &Kernel, limit: i64) -> Self {
        let count = kernel.team().and_then(|team| (team.high.clone() - team.low.clone() + 1).constant());
        let warps = count.unwrap_or(kernel.warps.len() as i64);
        if warps == 0 {
            let widths = widest(plan, kernel);
            return Threads::new(&widths, 2 * widths[0], limit);
        }
        let mut per_dimension = vec![1; plan.program.dimension()];
        if let Some(innermost) = per_dimension.last_mut() {
            *innermost = warps * WARP;
        }
        Threads { per_dimension }
    }

    /// Threads of a block.
    pub fn count(&self) -> i64 {
        self.per_dimension.iter().product()
    }

    /// As CUDA counts them: `x`, `y`, `z`.
    pub fn block(&self) -> [u32; 3] {
        let mut block = [1; 3];
        for (axis, &threads) in self.per_dimension.iter().rev().enumerate() {
            block[axis] = threads as u32;
        }
        block
    }
}

/// Points of the widest row along each dimension, in a tile that nothing cuts.
fn widest(plan: &KernelPlan, kernel: &Kernel) -> Vec<i64> {
    let mut environment: Environment = SIZE_NAMES.iter().map(|&name| (name, LARGE)).collect();
    environment.insert("steps", LARGE);
    environment.insert(plan.outer.variable, 0);
    environment.extend(kernel.blocks.iter().map(|block| (block.variable, 1)));
    for binding in &kernel.bindings {
        if let Some(value) = binding.value.evaluate(&environment) {
            environment.insert(binding.name, value);
        }
    }
    // In the middle of loops, where rows are whole.
    for source in kernel.sub_tiles.iter().chain([&kernel.rows]) {
        if let (Some(low), Some(high)) =
            (source.low.evaluate(&environment), source.high.evaluate(&environment))
        {
            environment.insert(source.variable, low.midpoint(high));
        }
    }
    let width = |d: usize| {
        let rows = kernel.instances.iter().map(|row| {
            let range = &row.ranges[d];
            match (range.low.evaluate(&environment), range.high.evaluate(&environment)) {
                (Some(low), Some(high)) if high - low < LARGE / 2 => high - low + 1,
                _ => UNCUT,
            }
        });
        rows.max().unwrap_or(1).max(1)
    };
    (0..plan.program.dimension()).map(width).collect()
}

/// How many neighbours along dimension 0 a thread computes at once: a power of two, at most 8 and at most a
/// thread's share of the widest row, such that the operands of all of them fit in registers. One where dimension 0
/// is innermost, because its points belong to different threads.
pub fn points_at_once(program: &Program, statement: usize, share: i64) -> i64 {
    if program.dimension() == 1 {
        return 1;
    }
    let fits = |points: i64| operand_registers(program, statement, points) <= MOST_OPERAND_REGISTERS;
    [8, 4, 2].into_iter().find(|&points| points <= share && fits(points)).unwrap_or(1)
}

/// Registers that the operands of the points of a thread that works in memory directly may fill.
const MOST_DIRECT_OPERAND_REGISTERS: usize = 36;

/// How many points of its share along dimension 0 a thread that works in memory directly computes at once.
pub fn direct_points_at_once(program: &Program, statement: usize, share: i64) -> i64 {
    let fits = |points: i64| operand_registers(program, statement, points) <= MOST_DIRECT_OPERAND_REGISTERS;
    [8, 4, 2].into_iter().find(|&points| points <= share && fits(points)).unwrap_or(1)
}

/// Threads of a multiprocessor that the compiler shall leave room for where they work in memory directly: enough to wait
/// for memory all at once, with 64 registers each. Statements with more than a few reads get twice as many.
pub const DIRECT_RESIDENT_THREADS: i64 = 1024;
const FEW_READS: usize = 9;

/// Threads of a multiprocessor that the compiler leaves room for where they work in memory directly.
pub fn direct_resident_threads(program: &Program, statement: usize) -> i64 {
    let few = program.statements[statement].reads.len() <= FEW_READS;
    if few { DIRECT_RESIDENT_THREADS } else { DIRECT_RESIDENT_THREADS / 2 }
}

/// How many blocks of so many threads make up the threads of a multiprocessor that there shall be room for.
pub fn blocks_of(resident: i64, threads: i64) -> i64 {
    (resident / threads.max(1)).max(1)
}

/// Registers for the distinct operands of neighbouring points.
pub fn operand_registers(program: &Program, statement: usize, points: i64) -> usize {
    let reads = &program.statements[statement].reads;
    let cells: BTreeSet<_> = (0..points)
        .flat_map(|point| {
            reads.iter().map(move |read| (read.field, read.time, read.offset[0] + point, &read.offset[1..]))
        })
        .collect();
    cells.iter().map(|(field, ..)| program.field(*field).element.bytes() / 4).sum()
}

/// How many blocks of `threads` threads the compiler shall make room for in the registers of a multiprocessor, where
/// a kernel has rows of `statements` statements that need up to `operands` operand registers. It keeps many addresses
/// in registers if it may, at the price of blocks that could hide latencies; but spilled registers cost more. Several
/// statements, and three dimensions, need more of them.
pub fn blocks_at_once(dimension: usize, threads: i64, statements: usize, operands: usize) -> i64 {
    let few = dimension < 3 && statements == 1 && operands <= FEW_OPERAND_REGISTERS;
    let resident = match (few, statements <= FEW_STATEMENTS) {
        (true, _) => MORE_RESIDENT_THREADS,
        (false, true) => RESIDENT_THREADS,
        (false, false) => FEWER_RESIDENT_THREADS,
    };
    blocks_of(resident, threads)
}

/// Registers for addresses and loop variables, beside those of the operands.
pub const ADDRESS_REGISTERS: i64 = 32;

/// Registers that a thread needs by the number of points that are its share of a row, 0 to 8: operands of the points that
/// it computes at once, and addresses.
pub fn registers_by_share(program: &Program) -> Vec<i64> {
    let of_statement = |statement: usize, share: i64| {
        operand_registers(program, statement, points_at_once(program, statement, share)) as i64
    };
    (0..=8)
        .map(|share| {
            let operands = (0..program.statements.len()).map(|k| of_statement(k, share.max(1))).max();
            operands.unwrap_or(0) + ADDRESS_REGISTERS
        })
        .collect()
}

/// Registers that the compiler may give a thread where it has to make room for so many threads on a multiprocessor, as
/// the emitted launch bounds ask.
pub fn register_bound(threads: i64, registers_per_sm: i64, registers_per_thread: i64) -> i64 {
    let share = registers_per_sm / threads.max(1);
    (share / 8 * 8).clamp(16, registers_per_thread)
}

/// Elements of so many bytes that a lane with so many neighbouring points accesses at once: what 16 bytes take, as far as it
/// divides the points.
pub fn elements_at_once(points: i64, bytes: usize) -> i64 {
    [4, 2].into_iter().find(|&count| count <= 16 / bytes as i64 && points % count == 0).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_as_many_threads_are_told_without_looking_at_each() {
        for limit in [1024, 256, 128, 100, 20] {
            let threads = |width: i64| Threads::rule(&[width], width, limit)[0];
            let mut width = 1;
            while width < 20_000 {
                let last = Threads::last_as_many(width, limit);
                assert!(
                    (width..=last.min(20_000)).all(|own| threads(own) == threads(width)),
                    "{limit} {width} {last}"
                );
                assert!(last > 20_000 || threads(last + 1) != threads(last), "{limit} {width} {last}");
                width = last.saturating_add(1);
            }
        }
    }
}
