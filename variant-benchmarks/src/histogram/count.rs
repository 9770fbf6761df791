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

/// Values of a block of the queue, and of those that are sorted at once.
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

/// The sum of all threads' counts, of which each has one table or several, one behind the other.
fn summed(counts: &mut [u32], own: &[Vec<u32>]) {
    counts.fill(0);
    let bins = counts.len().max(1);
    for table in own.iter().flat_map(|own| own.chunks(bins)) {
        counts.iter_mut().zip(table).for_each(|(sum, own)| *sum += own);
    }
}

/// Tables of each thread: neighbours that are the same are counted in different ones, for a count waits until the one before it in
/// its place is stored. Where there are few values for each bin, more tables would cost more than they save.
fn tables(values: usize, bins: usize) -> usize {
    match values / bins.max(1) {
        ..64 => 1,
        _ if bins <= 1 << 10 => 4,
        _ => 2,
    }
}

/// Counts in so many tables, one behind the other.
fn count_in<const TABLES: usize>(own: &mut [u32], values: &[u16]) {
    let bins = own.len() / TABLES;
    let mut rest = own;
    let mut tables: [&mut [u32]; TABLES] = std::array::from_fn(|_| {
        let (table, behind) = std::mem::take(&mut rest).split_at_mut(bins);
        rest = behind;
        table
    });
    let groups = values.chunks_exact(TABLES);
    groups.remainder().iter().for_each(|&value| tables[0][usize::from(value)] += 1);
    for group in groups {
        for (table, &value) in tables.iter_mut().zip(group) {
            table[usize::from(value)] += 1;
        }
    }
}

/// Each thread counts for itself; the counts are added.
pub fn private(values: &[u16], counts: &mut [u32], share: Share) {
    let tables = tables(values.len() / rayon::current_num_threads(), counts.len());
    let count = match tables {
        1 => count_in::<1>,
        2 => count_in::<2>,
        _ => count_in::<4>,
    };
    let own = shared(
        values,
        share,
        || vec![0; tables * counts.len()],
        |own: &mut Vec<u32>, values| count(own, values),
    );
    summed(counts, &own);
}

/// All threads count in one place; values that are the same as those before them, at once.
pub fn atomic(values: &[u16], counts: &mut [u32], share: Share) {
    let all: Vec<AtomicU32> = counts.iter().map(|_| AtomicU32::new(0)).collect();
    let add = |value: u16, length: u32| {
        all[usize::from(value)].fetch_add(length, Ordering::Relaxed);
    };
    let count = |(): &mut (), values: &[u16]| {
        let Some((&first, rest)) = values.split_first() else { return };
        let (mut last, mut length) = (first, 1);
        for &value in rest {
            if value != last {
                add(last, length);
                (last, length) = (value, 0);
            }
            length += 1;
        }
        add(last, length);
    };
    shared(values, share, || (), count);
    counts.iter_mut().zip(all).for_each(|(count, own)| *count = own.into_inner());
}

/// A thread's room to sort in, and what it has counted.
struct Sorting {
    room: [Vec<u16>; 3],
    counts: Vec<u32>,
}

/// Values are sorted, block by block; then the lengths of runs are added. Blocks that are runs already are taken as they are.
pub fn sorted(values: &[u16], counts: &mut [u32], share: Share) {
    let bins = counts.len();
    let new = || Sorting { room: std::array::from_fn(|_| vec![0; BLOCK]), counts: vec![0; bins] };
    let own = shared(values, share, new, |own: &mut Sorting, values| {
        for block in values.chunks(BLOCK) {
            let [one, other, starts] = &mut own.room;
            let grouped = match has_long_runs(block) {
                true => block,
                false => sort_block(block, &mut one[..block.len()], &mut other[..block.len()], bins),
            };
            let runs = runs(grouped, starts);
            for (at, &start) in runs.iter().enumerate() {
                let end = runs.get(at + 1).map_or(block.len(), |end| usize::from(*end));
                own.counts[usize::from(grouped[usize::from(start)])] += (end - usize::from(start)) as u32;
            }
        }
    });
    let own: Vec<Vec<u32>> = own.into_iter().map(|own| own.counts).collect();
    summed(counts, &own);
}

/// Whether the first values are in runs of 16 and more.
fn has_long_runs(block: &[u16]) -> bool {
    let sample = &block[..block.len().min(512)];
    16 * sample.windows(2).filter(|pair| pair[0] != pair[1]).count() <= sample.len()
}

/// A block in order, by digits of eight bits.
fn sort_block<'a>(block: &[u16], one: &'a mut [u16], other: &'a mut [u16], bins: usize) -> &'a [u16] {
    by_digit(block, one, 0);
    if bins <= 256 {
        return one;
    }
    by_digit(one, other, 8);
    other
}

/// Where runs of the same value begin, found without a branch: where there are many, nobody can foretell them.
fn runs<'a>(grouped: &[u16], starts: &'a mut [u16]) -> &'a [u16] {
    let mut count = usize::from(!grouped.is_empty());
    starts[0] = 0;
    for (at, pair) in grouped.windows(2).enumerate() {
        starts[count] = at as u16 + 1;
        count += usize::from(pair[0] != pair[1]);
    }
    &starts[..count]
}

/// Parts of a block that are walked through at once: values that are the same wait for each other in each of them alone.
const PARTS: usize = 4;

/// Values in the order of their digits; those of the same digit stay in order.
fn by_digit(from: &[u16], to: &mut [u16], shift: u32) {
    let each = from.len().div_ceil(PARTS);
    let bound = |part: usize| (part * each).min(from.len());
    let parts: [&[u16]; PARTS] = std::array::from_fn(|part| &from[bound(part)..bound(part + 1)]);
    let digit = |value: u16| usize::from(value >> shift & 255);
    let mut places = [[0_u32; 256]; PARTS];
    at_once(&parts, |part, value| places[part][digit(value)] += 1);
    let mut first = 0;
    for digit in 0..256 {
        for own in &mut places {
            (own[digit], first) = (first, first + own[digit]);
        }
    }
    at_once(&parts, |part, value| {
        let place = &mut places[part][digit(value)];
        to[*place as usize] = value;
        *place += 1;
    });
}

/// The values of all parts, of which none is shorter than the last one.
#[inline(always)]
fn at_once(parts: &[&[u16]; PARTS], mut each: impl FnMut(usize, u16)) {
    let least = parts[PARTS - 1].len();
    let heads = parts.map(|own| &own[..least]);
    for at in 0..least {
        for (part, own) in heads.iter().enumerate() {
            each(part, own[at]);
        }
    }
    for (part, own) in parts.iter().enumerate() {
        own[least..].iter().for_each(|&value| each(part, value));
    }
}
