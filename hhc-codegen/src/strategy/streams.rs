//! What counts of blocks that work on bands have in common.

use crate::counts::accounting::Accounting;
use crate::counts::multiprocessor::Multiprocessor;
use crate::counts::problem::Problem;
use crate::counts::tile::{TileCounts, share_out};
use crate::counts::union::union;
use crate::counts::work::TileWork;
use polyhedral::program::{FieldRole, Program};
use std::collections::BTreeMap;

/// An interval, both ends included.
pub(super) type Closed = (i64, i64);

/// What two intervals have in common.
pub(super) fn common(a: Closed, b: Closed) -> Closed {
    (a.0.max(b.0), a.1.min(b.1))
}

/// Points of an interval.
pub(super) fn points((low, high): Closed) -> i64 {
    (high - low + 1).max(0)
}

/// The counts of kernels with the iterations of the whole execution shared out among them, and what their warps execute: as the
/// kernel says itself, or by its counts.
pub(super) fn of_launches(
    problem: &Problem,
    on: &Multiprocessor,
    found: Vec<(TileCounts, Option<TileWork>)>,
) -> Vec<(TileCounts, TileWork)> {
    let tiles = |own: &TileCounts| own.wavefronts * own.tiles_per_wavefront;
    let computed: Vec<i128> =
        found.iter().map(|(own, _)| i128::from(tiles(own)) * i128::from(own.iterations)).collect();
    let shares = share_out(problem.total_iterations(), &computed);
    let accounting = Accounting::new(problem);
    let with_work = |((own, work), total_iterations): ((TileCounts, Option<TileWork>), i64)| {
        let own = TileCounts { tiles: tiles(&own), total_iterations, ..own };
        match work {
            Some(work) => (TileCounts { registers: work.registers, ..own }, work),
            None => (own, accounting.of_counts(&own, on.lanes)),
        }
    };
    found.into_iter().zip(shares).map(with_work).collect()
}

/// Words that a box of points of a statement reads from coefficients: what lies under the shapes of its reads.
pub(super) fn words_of_coefficients(program: &Program, statement: usize, block: [i64; 3]) -> i64 {
    let mut fields: BTreeMap<_, Vec<[i64; 3]>> = BTreeMap::new();
    for read in &program.statements[statement].reads {
        if program.field(read.field).role == FieldRole::Coefficient {
            let mut offset = [0; 3];
            offset[..read.offset.len()].copy_from_slice(&read.offset);
            fields.entry((read.field, read.time)).or_default().push(offset);
        }
    }
    fields.values().map(|offsets| union(offsets, block, program.dimension())).sum()
}

/// Chunks up to which every number of them is looked at; beyond, they grow by a fifth at a time.
const ONE_BY_ONE: i64 = 8;
/// Rows or planes of a stream at least, where there are several chunks.
const LEAST: i64 = 16;

/// The lengths of streams that a search looks at: the least ones that cut an extent into some number of chunks.
pub(super) fn chunks(extent: i64) -> impl Iterator<Item = i64> {
    let next = |&chunks: &i64| Some(if chunks < ONE_BY_ONE { chunks + 1 } else { (chunks * 6 + 4) / 5 });
    let length = move |chunks: i64| (extent + chunks - 1) / chunks;
    let lengths = std::iter::successors(Some(1), next).map(length);
    let mut before = 0;
    let new = move |&length: &i64| std::mem::replace(&mut before, length) != length;
    lengths.take_while(move |&length| length >= LEAST.min(extent).max(1)).take(MOST).filter(new)
}

/// Lengths at most: an extent of one point has no end of them.
const MOST: usize = 96;
