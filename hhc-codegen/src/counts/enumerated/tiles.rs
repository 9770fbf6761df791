//! Counts of a plan's tiles on multiprocessors: one entry for each kernel, its rows unclipped.

use super::place::{for_each_launch, tile_inside};
use crate::counts::{Multiprocessor, Problem, TileCounts, union};
use crate::geometry::{
    ADDRESS_REGISTERS, LocalKernel, Threads, TileTraffic, Window, blocks_at_once, operand_registers,
    register_bound,
};
use crate::int_expr::Environment;
use crate::plan::{Kernel, KernelPlan};
use crate::storage::Memory;
use std::collections::BTreeMap;

/// What a kernel's launches add up to.
#[derive(Debug, Clone, Default)]
struct Launches {
    wavefronts: i64,
    tiles: i64,
    most: i64,
    sub_tiles: i64,
    /// Inside the tile in the middle of a launch that has most blocks.
    inside: Option<Environment>,
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
    let mut launches = vec![Launches::default(); plan.kernels.len()];
    for_each_launch(plan, (&problem.size, problem.steps), false, |launched| {
        let own = &mut launches[launched.index];
        own.wavefronts += launched.weight;
        own.tiles += launched.blocks * launched.weight;
        if launched.blocks > own.most || own.inside.is_none() {
            let (inside, sub_tiles) = tile_inside(launched)?;
            (own.most, own.sub_tiles, own.inside) = (launched.blocks, sub_tiles, Some(inside));
        }
        Some(())
    })
    .ok_or_else(unknown)?;
    let mut found = Vec::new();
    for (kernel, launches) in plan.kernels.iter().zip(&launches) {
        let Some(inside) = &launches.inside else { continue };
        let sub_tile = if kernel.memory == Memory::Arrays {
            in_memory(plan, kernel, inside, on).ok_or_else(unknown)?
        } else {
            staged(plan, kernel, on)?
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
        let all: i128 = computed.iter().sum();
        let (mut before, mut given) = (0, 0);
        for (share, computed) in shares.iter_mut().zip(computed) {
            before += computed;
            let until = if all == 0 { 0 } else { (i128::from(total) * before / all) as i64 };
            *share += until - given;
            given = until;
        }
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
    let mut levels: BTreeMap<_, Vec<[i64; 3]>> = BTreeMap::new();
    for read in &statement.reads {
        let mut offset = [0; 3];
        offset[..read.offset.len()].copy_from_slice(&read.offset);
        levels.entry((read.field, read.time)).or_default().push(offset);
    }
    let iterations = block.iter().product();
    let threads = Threads::in_memory(kernel, on.threads_per_block).count();
    let registers = operand_registers(program, instance.statement, 1) as i64 + ADDRESS_REGISTERS;
    let mut points = vec![0; program.statements.len()];
    points[instance.statement] = iterations;
    let counts = TileCounts {
        rows: 1,
        iterations,
        lane_rounds: (iterations + on.lanes - 1) / on.lanes,
        words_in: levels.values().map(|offsets| union(offsets, block, program.dimension())).sum(),
        words_out: iterations,
        fast_words: iterations * (statement.reads.len() as i64 + 1),
        threads,
        registers: registers.min(register_bound(threads, on.registers_per_sm, on.registers_per_thread)),
        ..TileCounts::default()
    };
    Some(SubTile { counts, points })
}

/// A kernel that keeps a window in shared memory.
fn staged(plan: &KernelPlan, kernel: &Kernel, on: &Multiprocessor) -> Result<SubTile, String> {
    let program = &plan.program;
    let local = LocalKernel::new(plan, kernel).map_err(|error| error.to_string())?;
    let mut window = Window::new(program, &local);
    let tile_bytes = window.layout(program).1;
    if tile_bytes > on.shared_per_block_bytes {
        return Err(format!(
            "its window needs {tile_bytes} bytes of shared memory, and a block may have {}",
            on.shared_per_block_bytes
        ));
    }
    window.find_live_cells(program, &local, &[]);
    let traffic = TileTraffic::new(program, &local, &window);
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
