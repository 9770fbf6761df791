//! Counts of a plan's tiles on multiprocessors: one entry for each kernel, its rows unclipped. A kernel that says itself
//! where values live has one for each height of its bands, for the block in the middle of a launch.

use super::parts::{Parts, Work, in_arrays, reads_of_arrays};
use super::place::{block_inside, for_each_launch, groups, tile_inside};
use super::wavefronts;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::{TileCounts, share_out};
use crate::counts::union::union;
use crate::geometry::{
    ADDRESS_REGISTERS, LocalKernel, NoWindow, StorageLayout, Threads, TileTraffic, blocks_at_once,
    operand_registers, register_bound, registers_of_storages, window,
};
use crate::int_expr::Environment;
use crate::plan::{Instance, Kernel, KernelPlan, RowOrder};
use crate::storage::{Memory, Moment, Part, Place, Sync};
use polyhedral::program::Program;
use std::collections::BTreeMap;

/// What a kernel's launches add up to.
#[derive(Debug, Clone, Default)]
struct Launches {
    wavefronts: i64,
    tiles: i64,
    most: i64,
    sub_tiles: i64,
    /// Inside the tile in the middle of a launch that has most blocks; inside the block, where it is counted whole.
    inside: Environment,
}

/// One sub-tile, and the points of each statement in it.
struct SubTile {
    counts: TileCounts,
    points: Vec<i64>,
}

/// The counts of each kernel that is launched.
///
/// # Errors
/// Why they cannot be had, as half a sentence: what a block would have to hold depends on the grid, for example.
pub fn counts(plan: &KernelPlan, problem: &Problem, on: &Multiprocessor) -> Result<Vec<TileCounts>, String> {
    let unknown = || "a bound of its plan mentions an unknown name".to_owned();
    for kernel in plan.kernels.iter().filter(|kernel| kernel.in_parts()) {
        fits(StorageLayout::new(&plan.program, kernel).bytes, on)?;
    }
    // By kernel, and by groups of rows where bands of different heights are launched.
    let mut launches: BTreeMap<(usize, i64), Launches> = BTreeMap::new();
    for_each_launch(plan, (&problem.size, problem.steps), false, |launched| {
        let block = block_inside(launched)?;
        let in_parts = launched.kernel.in_parts();
        let groups = if in_parts { -groups(launched, &block)? } else { 0 };
        let own = launches.entry((launched.index, groups)).or_default();
        own.wavefronts += launched.weight;
        own.tiles += launched.blocks * launched.weight;
        if launched.blocks > own.most {
            (own.most, own.sub_tiles, own.inside) = (launched.blocks, 1, block);
            if !in_parts {
                (own.inside, own.sub_tiles) = tile_inside(launched)?;
            }
        }
        Some(())
    })
    .ok_or_else(unknown)?;
    let mut found = Vec::new();
    for ((index, _), launches) in &launches {
        let kernel = &plan.kernels[*index];
        let sub_tile = if kernel.in_parts() {
            in_parts(plan, kernel, &launches.inside, problem, on).ok_or_else(unknown)?
        } else if kernel.memory == Memory::Arrays {
            in_memory(plan, kernel, &launches.inside, on).ok_or_else(unknown)?
        } else {
            staged(plan, *index, on)?
        };
        found.push((launches, sub_tile));
    }
    let shares = shares(problem, &found);
    let all = found.into_iter().zip(shares).map(|((launches, sub_tile), total_iterations)| TileCounts {
        wavefronts: launches.wavefronts,
        tiles_per_wavefront: launches.most,
        tiles: launches.tiles,
        sub_tiles: launches.sub_tiles,
        word_bytes: problem.element().bytes() as i64,
        total_iterations,
        ..sub_tile.counts
    });
    Ok(all.collect())
}

/// The iterations of the execution, shared out among the kernels by the points that they compute of each statement. A
/// point that is computed twice counts once.
fn shares(problem: &Problem, found: &[(&Launches, SubTile)]) -> Vec<i64> {
    let mut shares = vec![0; found.len()];
    for statement in 0..problem.program.statements.len() {
        let domain = problem.program.domain(statement, &problem.size);
        let total = problem.steps * domain.iter().map(|(low, end)| (end - low).max(0)).product::<i64>();
        let computed: Vec<i128> = (found.iter())
            .map(|(launches, tile)| {
                i128::from(launches.tiles * launches.sub_tiles) * i128::from(tile.points[statement])
            })
            .collect();
        shares.iter_mut().zip(share_out(total, &computed)).for_each(|(share, own)| *share += own);
    }
    shares
}

/// A kernel that works in memory directly: a block is one box.
fn in_memory(
    plan: &KernelPlan,
    kernel: &Kernel,
    inside: &Environment,
    on: &Multiprocessor,
) -> Option<SubTile> {
    let program = &plan.program;
    let instance = &kernel.instances[0];
    let mut inside = inside.clone();
    inside.insert(kernel.rows.variable, kernel.rows.low.evaluate(&inside)?);
    let mut block = [1; 3];
    for (length, range) in block.iter_mut().zip(&instance.ranges) {
        *length = range.high.evaluate(&inside)? - range.low.evaluate(&inside)? + 1;
    }
    let statement = &program.statements[instance.statement];
    let bounds: Vec<(i64, i64)> = block[..program.dimension()].iter().map(|&length| (0, length)).collect();
    let iterations = block.iter().product();
    let threads = Threads::in_memory(kernel, on.threads_per_block).count();
    let registers = operand_registers(program, instance.statement, 1) as i64 + ADDRESS_REGISTERS;
    let mut points = vec![0; program.statements.len()];
    points[instance.statement] = iterations;
    let counts = TileCounts {
        rows: 1,
        iterations,
        lane_rounds: (iterations + on.lanes - 1) / on.lanes,
        words_in: words_from_arrays(program, instance, &bounds),
        words_out: iterations,
        fast_words: iterations * (statement.reads.len() as i64 + 1),
        threads,
        registers: registers.min(register_bound(threads, on.registers_per_sm, on.registers_per_thread)),
        ..TileCounts::default()
    };
    Some(SubTile { counts, points })
}

/// Whether a block may have so much memory.
fn fits(tile_bytes: i64, on: &Multiprocessor) -> Result<(), String> {
    if tile_bytes > on.shared_per_block_bytes { Err(too_large(tile_bytes, on)) } else { Ok(()) }
}

fn too_large(tile_bytes: i64, on: &Multiprocessor) -> String {
    let most = on.shared_per_block_bytes;
    format!("a tile needs {tile_bytes} bytes of shared memory, and a block may have {most}")
}

/// Words that a row reads from the arrays: what lies under the shapes of its reads, each time level of each field.
fn words_from_arrays(program: &Program, row: &Instance, bounds: &[(i64, i64)]) -> i64 {
    let reads = &program.statements[row.statement].reads;
    let mut levels: BTreeMap<_, Vec<[i64; 3]>> = BTreeMap::new();
    for at in reads_of_arrays(row, reads.len()) {
        let read = &reads[at];
        let mut offset = [0; 3];
        offset[..read.offset.len()].copy_from_slice(&read.offset);
        levels.entry((read.field, read.time)).or_default().push(offset);
    }
    let mut block = [1; 3];
    block.iter_mut().zip(bounds).for_each(|(length, (low, end))| *length = end - low);
    levels.values().map(|offsets| union(offsets, block, bounds.len())).sum()
}

/// Whether a place is in shared memory.
fn in_shared(kernel: &Kernel, place: &Place) -> bool {
    place.storage().is_some_and(|index| kernel.storages[index].first_lane().is_none())
}

/// A kernel that says itself where values live: all sub-tiles of a block together.
fn in_parts(
    plan: &KernelPlan,
    kernel: &Kernel,
    block: &Environment,
    problem: &Problem,
    on: &Multiprocessor,
) -> Option<SubTile> {
    let program = &plan.program;
    let threads = Threads::in_parts(plan, kernel, on.threads_per_block).count();
    let operands = kernel.instances.iter().map(|row| operand_registers(program, row.statement, 1)).max();
    let bound = register_bound(threads, on.registers_per_sm, on.registers_per_thread);
    let registers = operands.unwrap_or(0) as i64 + ADDRESS_REGISTERS;
    let mut counts = TileCounts {
        tile_bytes: StorageLayout::new(program, kernel).bytes,
        threads,
        registers: registers.saturating_add(registers_of_storages(program, kernel)).min(bound),
        ..TileCounts::default()
    };
    let mut points = vec![0; program.statements.len()];
    // Lanes of warps that run rows of their own.
    let mut lanes = 0;
    let up = |a: i64, b: i64| (a + b - 1) / b;
    // The models have barriers of their own after the words of a tile have come, and before they go.
    let last = |moment| kernel.transfers_at(moment).last().map(|(index, _)| Part::Transfer(index));
    let with_words = [last(Moment::Start), last(Moment::End)];
    Parts::new(plan, kernel, &problem.size, problem.steps).for_each(block, &mut |ran| {
        let (times, computed) = (ran.times, ran.times * ran.points);
        if ran.work.sync() == Sync::Barrier && !with_words.contains(&Some(ran.part)) {
            counts.barriers += times;
        }
        if ran.points == 0 {
            return;
        }
        match ran.work {
            Work::Row(row) => {
                counts.rows += times;
                counts.iterations += times * ran.owned;
                counts.copies += computed - times * ran.owned;
                points[row.statement] += times * ran.owned;
                // Rounds of so many lanes.
                let rounds = |lanes: i64| match &row.order {
                    RowOrder::Parallel { .. } => up(ran.points, lanes),
                    RowOrder::Sequential => ran.points,
                    RowOrder::Skewed { factors } => wavefronts::rounds(factors, &ran.bounds, lanes),
                };
                if kernel.warps.is_empty() && !kernel.team {
                    counts.lane_rounds += times * rounds(on.lanes);
                } else {
                    lanes += times * rounds(on.warp) * on.warp;
                }
                if let (RowOrder::Skewed { factors }, Sync::Barrier) = (&row.order, row.sync) {
                    counts.barriers += times * (wavefronts::points(factors, &ran.bounds).len() as i64 - 1);
                }
                counts.fast_words += computed * (program.statements[row.statement].reads.len() as i64 + 1);
                counts.words_in += times * words_from_arrays(program, row, &ran.bounds);
                let stores = row.writes.iter().filter(|place| in_arrays(place)).count() as i64;
                counts.words_out += computed * stores;
            }
            Work::Transfer(transfer) => {
                let (from, to) = (in_arrays(&transfer.from.place), in_arrays(&transfer.to));
                counts.words_in += if from { computed } else { 0 };
                counts.words_out += if to { computed } else { 0 };
                let fast =
                    [&transfer.from.place, &transfer.to].into_iter().filter(|place| in_shared(kernel, place));
                counts.fast_words += if from || to { 0 } else { fast.count() as i64 * computed };
            }
        }
    })?;
    counts.lane_rounds += up(lanes, on.lanes);
    Some(SubTile { counts, points })
}

/// A kernel that keeps a window in shared memory.
fn staged(plan: &KernelPlan, index: usize, on: &Multiprocessor) -> Result<SubTile, String> {
    let (program, kernel) = (&plan.program, &plan.kernels[index]);
    let local = LocalKernel::new(plan, kernel).map_err(|error| error.to_string())?;
    let window = window(plan, index, on.shared_per_block_bytes).map_err(|none| match none {
        NoWindow::Plan(error) => error.to_string(),
        NoWindow::TooLarge { bytes, .. } => too_large(bytes, on),
    })?;
    let tile_bytes = window.layout(program).1;
    let traffic = TileTraffic::new(program, kernel, &local, window);
    let threads = local.threads(on.threads_per_block);
    let operands = (local.rows.iter().zip(local.points_at_once(program, &threads)))
        .map(|(row, points)| operand_registers(program, row.statement, points))
        .max()
        .unwrap_or(0);
    let count = threads.count();
    let blocks = blocks_at_once(program.dimension(), count, local.rows.len(), operands);
    let bound = register_bound(count * blocks, on.registers_per_sm, on.registers_per_thread);
    let mut counts = TileCounts {
        words_in: traffic.loads,
        words_out: traffic.stores,
        tile_bytes,
        threads: count,
        registers: (operands as i64 + ADDRESS_REGISTERS).min(bound),
        ..TileCounts::default()
    };
    let mut points = vec![0; program.statements.len()];
    for row in local.rows.iter().filter(|row| row.in_full_tiles) {
        let accesses = program.statements[row.statement].reads.len() as i64 + 1;
        for bounds in &row.boxes {
            let own: i64 = bounds.iter().map(|(low, high)| (high - low + 1).max(0)).product();
            points[row.statement] += own;
            counts.rows += 1;
            counts.iterations += own;
            counts.lane_rounds += (own + on.lanes - 1) / on.lanes;
            counts.fast_words += own * accesses;
        }
    }
    counts.barriers = counts.rows;
    Ok(SubTile { counts, points })
}
