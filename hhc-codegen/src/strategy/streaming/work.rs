//! What the warps of a block execute at a position of its stream: the instructions that the CUDA back end prints for it.

use super::blocks::Stream;
use crate::counts::accounting::Accounting;
use crate::counts::{Problem, TileCounts, TileWork, Work};
use crate::geometry::{WARP, elements_at_once};
use crate::plan::decides_nothing;
use polyhedral::program::ElementType;
use std::collections::BTreeSet;

/// Instructions of a warp at a position besides points and accesses: its loop, the barrier, tests.
const POSITION: f64 = 12.0;
/// Those of a row in memory: its place.
const PLACE: f64 = 2.0;
/// Registers of a thread besides planes, and the most that there are.
const OTHERS: i64 = 60;
const MOST: i64 = 255;

/// What a tile of the kernel executes, by its counts; its registers are those that its threads are given. `None` where the text
/// asks what each point is: of statements that cannot compute junk. On grids narrower than a block it does, too.
pub(super) fn of_kernel(problem: &Problem, stream: &Stream<'_>, counts: &TileCounts) -> Option<TileWork> {
    let program = stream.program;
    let alone = program.statements[0].reads.iter().all(|read| read.field == stream.field);
    if !alone || !decides_nothing(program, 0) {
        return None;
    }
    let registers = registers(problem, stream);
    let (down, up) = stream.reach[0];
    let positions = stream.sizes.planes + stream.sizes.steps * (down + up.max(stream.lag())) + 2;
    Some(TileWork {
        full: position(problem, stream),
        full_sub_tiles: positions as f64,
        full_launches: counts.wavefronts as f64,
        registers,
        needed: registers,
        ..TileWork::default()
    })
}

/// Registers that a thread is given: those of the planes that are read again, the rows beside a slice, and others.
fn registers(problem: &Problem, stream: &Stream<'_>) -> i64 {
    let words = problem.element().bytes() as i64 / 4;
    let (sizes, (before, behind)) = (stream.sizes, stream.reach[1]);
    let planes = (stream.reach[0].0 + stream.lag()) * sizes.rows + before + behind;
    let values = sizes.steps * planes * sizes.points * words;
    (values + OTHERS.max(values / 4)).min(MOST)
}

/// What all warps of a block execute at a position at which all planes run.
///
/// ```text
/// issued = W * (D * (rows * R * operations + neighbours + accesses of edges + POSITION) + accesses of planes + their places + POSITION)
/// ```
fn position(problem: &Problem, stream: &Stream<'_>) -> Work {
    let element = problem.element();
    let words = element.bytes() as f64 / 4.0;
    let sizes = stream.sizes;
    let [points, rows, steps, warps] =
        [sizes.points, sizes.rows, sizes.steps, sizes.warps].map(|size| size as f64);
    let ((before, behind), (left, right)) = (stream.reach[1], stream.reach[2]);
    let across = (left + right) as f64 * words;
    // Rows of which neighbours in other lanes are read.
    let reads = stream.program.statements[0].reads.iter().filter(|read| read.offset[2] != 0);
    let lines: BTreeSet<(i64, i64)> =
        reads.flat_map(|read| (0..sizes.rows).map(|row| (read.offset[0], row + read.offset[1]))).collect();
    let shuffles = steps * across * lines.len() as f64;
    let operations = Accounting::new(problem).iteration().arithmetic * WARP as f64;
    let arithmetic = warps * steps * points * rows * operations;
    let piece = elements_at_once(sizes.points, element.bytes());
    let of_row = points / piece as f64;
    let edges = if stream.across.is_some() { 2.0 * (before + behind) as f64 * of_row } else { 0.0 };
    // Into the feed, out of it, and to memory.
    let stored = if sizes.stores_whole(stream.program, stream.reach[2], piece) { of_row } else { points };
    let planes = rows * (2.0 * of_row + stored);
    let accesses = warps * (steps * edges + planes);
    let issued =
        arithmetic + warps * (steps * POSITION + PLACE * 2.0 * rows + POSITION) + warps * shuffles + accesses;
    // A double-length operation takes two cycles of a scheduler at least.
    let longest = if element == ElementType::F64 { arithmetic / 2.0 } else { arithmetic / 4.0 };
    let moved = points * rows * words;
    Work {
        issued,
        arithmetic,
        shared: warps * (words * (shuffles + steps * 2.0 * (before + behind) as f64 * points) + 2.0 * moved),
        ahead: 2.0 * points * rows * warps * WARP as f64,
        // All warps wait for each other at each position, for the rows beside their slices at each step, and for the barrier.
        chain: longest.max(issued / 4.0),
        waits: steps + 2.0,
        barriers: 1.0,
        ..Work::default()
    }
}
