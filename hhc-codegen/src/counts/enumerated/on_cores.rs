//! Counts of a plan on cores: every launch has tiles like the one in its middle, spread evenly over the threads. Where each
//! kernel goes over the grid once in a time step, its launches are sweeps.

use super::parts::{Parts, Work, in_arrays, reads_of_arrays};
use super::place::{Launched, block_inside, for_each_launch, groups, tile_inside};
use crate::counts::cores::{CoreCounts, Cores, Inner, Outer, RowCode, Sweep};
use crate::geometry::{MOST_OWN_BYTES, own_bytes};
use crate::int_expr::Environment;
use crate::plan::{Kernel, KernelPlan};
use crate::storage::Memory;
use polyhedral::program::FieldId;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What the busiest thread does, over all launches.
///
/// # Errors
/// Why it cannot be counted, as half a sentence.
pub fn counts(plan: &KernelPlan, cores: &Cores) -> Result<CoreCounts, String> {
    let unknown = || "a bound of its plan mentions an unknown name".to_owned();
    let own = own_bytes(plan);
    if own > MOST_OWN_BYTES {
        return Err(format!(
            "its storages need {own} bytes, and a thread may have {MOST_OWN_BYTES} of its own"
        ));
    }
    let in_tiles = |kernel: &Kernel| kernel.rows.low != kernel.rows.high || !kernel.sub_tiles.is_empty();
    if plan.kernels.iter().any(|kernel| kernel.memory == Memory::Arrays && in_tiles(kernel)) {
        return Err("one of its tiles does not stand for the others: many are cut off".to_owned());
    }
    if plan.kernels.iter().all(|kernel| kernel.memory == Memory::Arrays && !kernel.in_parts()) {
        return sweeps(plan, cores).map(CoreCounts::Sweeps).ok_or_else(unknown);
    }
    let mut total = Outer::default();
    let (mut windows, mut points) = (0.0, 0.0);
    let mut known: BTreeMap<(usize, i64, i64), Outer> = BTreeMap::new();
    for_each_launch(plan, (&cores.size, cores.steps), true, |launched| {
        let (tile, sub_tiles) = if launched.kernel.in_parts() {
            let block = block_inside(launched)?;
            // Blocks of bands of the same height are alike.
            let tile = match known.entry((launched.index, launched.blocks, groups(launched, &block)?)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(vacant) => *vacant.insert(in_parts(plan, launched.kernel, &block, cores)?),
            };
            (tile, 1)
        } else {
            let (inside, sub_tiles) = tile_inside(launched)?;
            (sub_tile(launched.kernel, inside, cores)?, sub_tiles)
        };
        let Launched { blocks, weight, .. } = *launched;
        let tiles = (blocks as f64 / cores.threads as f64).ceil() * sub_tiles as f64;
        total.add(&tile, weight as f64 * tiles);
        total.wavefronts += weight as f64;
        // The window of the tiles in which the most time is spent, on average.
        windows += weight as f64 * tiles * tile.swept * tile.extent;
        points += weight as f64 * tiles * tile.swept;
        Some(())
    })
    .ok_or_else(unknown)?;
    total.extent = if points > 0.0 { windows / points } else { 0.0 };
    // All dimensions are in the sums already.
    Ok(CoreCounts::Tiles(total, Inner::ONCE))
}

/// The launches of one time step: of each kernel the one that has most blocks, scaled to the points that there are.
fn sweeps(plan: &KernelPlan, cores: &Cores) -> Option<Vec<Sweep>> {
    let mut found: Vec<(i64, Option<Sweep>)> = vec![(0, None); plan.kernels.len()];
    for_each_launch(plan, (&cores.size, cores.steps), true, |launched| {
        let (most, sweep) = &mut found[launched.index];
        if launched.blocks <= *most {
            return Some(());
        }
        let tile = sub_tile(launched.kernel, tile_inside(launched)?.0, cores)?;
        let code = &cores.code[launched.kernel.instances[0].statement];
        let (blocks, points) = (launched.blocks as f64, code.points());
        let scale = if tile.swept > 0.0 { points * code.sweep_bytes / tile.swept } else { 0.0 };
        // Blocks of a run are alike.
        let runs: f64 = tile.runs.iter().sum();
        *most = launched.blocks;
        *sweep = Some(Sweep {
            share: (blocks / cores.threads as f64).ceil() / blocks,
            boxes: blocks,
            runs: vec![tile.runs.map(|runs| runs * scale)],
            pieces: 1.0,
            blocks: if runs > 0.0 { tile.blocks.iter().sum::<f64>() / runs } else { 0.0 },
            short: tile.points * scale,
            points,
            sweep_bytes: code.sweep_bytes,
        });
        Some(())
    })?;
    Some(found.into_iter().filter_map(|(_, sweep)| sweep).collect())
}

/// The counts of one sub-tile: of `Outer`, `points` are those of rows shorter than a block, and `extent` all points of the
/// window.
fn sub_tile(kernel: &Kernel, mut inside: Environment, cores: &Cores) -> Option<Outer> {
    let mut sum = Outer::default();
    let dimension = cores.dimension();
    let mut window = vec![(i64::MAX, i64::MIN); dimension];
    let (low, high) = (kernel.rows.low.evaluate(&inside)?, kernel.rows.high.evaluate(&inside)?);
    for group in low..=high {
        inside.insert(kernel.rows.variable, group);
        for instance in &kernel.instances {
            if !(0..cores.steps).contains(&instance.step.evaluate(&inside)?) {
                continue;
            }
            let code = &cores.code[instance.statement];
            let mut bounds = Vec::with_capacity(dimension);
            for (range, (first, end)) in instance.ranges.iter().zip(&code.domain) {
                let (low, high) = (range.low.evaluate(&inside)?, range.high.evaluate(&inside)?);
                bounds.push((low.max(*first), (high + 1).min(*end)));
            }
            if bounds.iter().any(|(low, end)| low >= end) {
                continue;
            }
            row(&bounds, code, &mut sum);
            for (window, bounds) in window.iter_mut().zip(bounds) {
                *window = (window.0.min(bounds.0), window.1.max(bounds.1));
            }
        }
    }
    if sum.calls > 0.0 {
        let length = |(d, (low, end)): (usize, &(i64, i64))| {
            (end - low + cores.halo[d].0 + cores.halo[d].1).min(cores.size[d]) as f64
        };
        sum.extent = window.iter().enumerate().map(length).product();
        sum.touched = sum.extent * cores.touched_bytes;
    }
    Some(sum)
}

/// The counts of one block that says itself where values live, in the same units as those of [`sub_tile`]: rows one line
/// after the other, transfers as sweeps over what they read and write; its window is its storages.
fn in_parts(plan: &KernelPlan, kernel: &Kernel, block: &Environment, cores: &Cores) -> Option<Outer> {
    let program = &plan.program;
    let bytes = |field: FieldId| program.field(field).element.bytes() as f64;
    let mut sum = Outer::default();
    // Bytes that rows read from the arrays: of each level as many as the largest row, the first time.
    let mut read: BTreeMap<(usize, FieldId, i64), f64> = BTreeMap::new();
    Parts::new(plan, kernel, &cores.size, cores.steps).for_each(block, &mut |ran| {
        if ran.points == 0 {
            return;
        }
        let (times, points) = (ran.times as f64, ran.points as f64);
        match ran.work {
            Work::Row(row) => {
                let mut own = Outer::default();
                lines(&ran.bounds, &cores.code[row.statement], &mut own);
                let statement = &program.statements[row.statement];
                let stores = row.writes.iter().filter(|place| in_arrays(place)).count() as f64;
                own.touched += 2.0 * stores * points * bytes(statement.target);
                sum.add(&own, times);
                for at in reads_of_arrays(row, statement.reads.len()) {
                    let access = &statement.reads[at];
                    let most = read.entry((row.statement, access.field, access.time)).or_default();
                    *most = most.max(points * bytes(access.field));
                }
            }
            Work::Transfer(transfer) => {
                let (from, to) = (in_arrays(&transfer.from.place), in_arrays(&transfer.to));
                let moved = times * points * bytes(transfer.field);
                sum.calls += times;
                sum.swept += 3.0 * moved;
                sum.touched += if from { moved } else { 0.0 } + if to { 2.0 * moved } else { 0.0 };
            }
        }
    })?;
    sum.touched += read.values().sum::<f64>();
    let storages: i64 = kernel.storages.iter().map(|storage| storage.bytes(program)).sum();
    sum.extent = storages as f64 / cores.stored_bytes.max(1.0);
    Some(sum)
}

/// Adds one call whose code computes one line of its box after the other.
fn lines(bounds: &[(i64, i64)], code: &RowCode, sum: &mut Outer) {
    let one = RowCode {
        variants: code.variants.iter().copied().filter(|(at_once, _)| *at_once == 1).collect(),
        domain: code.domain.clone(),
        ..*code
    };
    row(bounds, &one, sum);
}

/// Adds one call.
fn row(bounds: &[(i64, i64)], code: &RowCode, sum: &mut Outer) {
    let length = |d: usize| bounds[d].1 - bounds[d].0;
    let last = bounds.len() - 1;
    let points: f64 = (0..=last).map(|d| length(d) as f64).product();
    sum.calls += 1.0;
    sum.swept += points * code.sweep_bytes;
    // A row begins anywhere in a line.
    let blocks = (length(last) + code.block - 1) as f64 / code.block as f64;
    if last == 0 {
        if let Some(&(_, v)) = code.variants.first() {
            sum.runs[v] += 1.0;
            sum.blocks[v] += blocks;
        }
        return;
    }
    if length(last) < code.block {
        sum.points += points;
    }
    let middle: f64 = (1..last).map(|d| length(d) as f64).product();
    let mut rest = length(0);
    for &(at_once, v) in &code.variants {
        let runs = (rest / at_once) as f64 * middle;
        rest %= at_once;
        sum.runs[v] += runs;
        if length(last) >= code.block {
            sum.blocks[v] += runs * blocks;
        }
    }
}
