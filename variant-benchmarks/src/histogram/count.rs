//! Ways to count values, by several threads.

use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Who counts what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Each thread as many values.
    Even,
    /// Blocks, taken from a queue.
    Dynamic,
}

/// Values of a block of the queue.
const BLOCK: usize = 1 << 13;

/// Each thread's state, made by `new`, after `work` on the values that it took.
fn shared<S: Send>(
    values: &[u16],
    share: Share,
    new: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[u16]) + Sync,
) -> Vec<S> {
    let threads = rayon::current_num_threads();
    match share {
        Share::Even => {
            let each = values.len().div_ceil(threads).max(1);
            let one = |own: &[u16]| {
                let mut state = new();
                work(&mut state, own);
                state
            };
            values.par_chunks(each).map(one).collect()
        }
        Share::Dynamic => {
            let next = AtomicUsize::new(0);
            let one = |_| {
                let mut state = new();
                loop {
                    let first = next.fetch_add(BLOCK, Ordering::Relaxed);
                    let Some(rest) = values.get(first..).filter(|rest| !rest.is_empty()) else { break state };
                    work(&mut state, &rest[..BLOCK.min(rest.len())]);
                }
            };
            (0..threads).into_par_iter().map(one).collect()
        }
    }
}

/// Each thread counts for itself; the counts are added.
pub fn private(values: &[u16], counts: &mut [u32], share: Share) {
    let bins = counts.len();
    let own = shared(
        values,
        share,
        || vec![0; bins],
        |own: &mut Vec<u32>, values| {
            values.iter().for_each(|&value| own[usize::from(value)] += 1);
        },
    );
    counts.fill(0);
    for own in own {
        counts.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
}

/// All threads count in one place.
pub fn atomic(values: &[u16], counts: &mut [u32], share: Share) {
    let all: Vec<AtomicU32> = counts.iter().map(|_| AtomicU32::new(0)).collect();
    shared(
        values,
        share,
        || (),
        |(), values| {
            for &value in values {
                all[usize::from(value)].fetch_add(1, Ordering::Relaxed);
            }
        },
    );
    counts.iter_mut().zip(all).for_each(|(count, own)| *count = own.into_inner());
}

/// Values are sorted; then the lengths of runs are added.
pub fn sorted(values: &[u16], counts: &mut [u32], share: Share) {
    let all: Vec<AtomicU32> = counts.iter().map(|_| AtomicU32::new(0)).collect();
    shared(values, share, Vec::new, |copy: &mut Vec<u16>, values| {
        copy.clear();
        copy.extend_from_slice(values);
        copy.sort_unstable();
        for run in copy.chunk_by(|a, b| a == b) {
            all[usize::from(run[0])].fetch_add(run.len() as u32, Ordering::Relaxed);
        }
    });
    counts.iter_mut().zip(all).for_each(|(count, own)| *count = own.into_inner());
}
