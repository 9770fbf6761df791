//! A sort that uses the order that is there: keys that are out of place are taken out, sorted, and merged in again. Several threads
//! take out of a part each.
//!
//! E. Ernerfeldt, "Drop-merge sort", 2016 (<https://github.com/emilk/drop-merge-sort>).

use super::keys::Key;
use super::merge::{merge, merge_sort, sort_ranks};
use rayon::prelude::*;

/// So many keys in a row that are out of place: the key before them was.
const MOST_IN_A_ROW: usize = 8;
/// Keys after which it is asked whether there is any order.
const PROBE: usize = 4096;
/// Fewer keys are not worth another thread.
const ALONE: usize = 1 << 15;

/// Sorts by taking out what is not in order.
pub fn locality_sort<K: Key>(keys: &mut Vec<K>) {
    let parts = rayon::current_num_threads().min(keys.len().div_ceil(ALONE)).max(1);
    let length = keys.len().div_ceil(parts).max(1);
    if is_reversed(keys, length) {
        reverse(keys, length);
        return;
    }
    let parts: Vec<Option<(usize, Vec<K>)>> = keys.par_chunks_mut(length).map(separate).collect();
    if parts.iter().any(Option::is_none) {
        for (own, (kept, dropped)) in
            keys.chunks_mut(length).zip(&parts).filter_map(|(own, part)| Some((own, part.as_ref()?)))
        {
            put_back(own, *kept, dropped);
        }
        return merge_sort(keys);
    }
    // What is kept is ranked.
    let mut dropped = Vec::new();
    let mut kept: Vec<&[K]> = Vec::new();
    for (own, (count, out)) in keys.chunks(length).zip(parts.into_iter().flatten()) {
        dropped.extend(out);
        join(&mut kept, &own[..count], &mut dropped);
    }
    let mut room = vec![K::default(); dropped.len()];
    sort_ranks(&mut dropped, &mut room, false);
    let mut merged = vec![K::default(); keys.len()];
    let (mut places, mut rest, mut out) = (Vec::new(), &mut merged[..], &dropped[..]);
    for (at, own) in kept.iter().enumerate() {
        let last = own[own.len() - 1].bits();
        let before = match at + 1 == kept.len() {
            true => out.len(),
            false => out.partition_point(|rank| rank.bits() <= last),
        };
        let (to, behind) = rest.split_at_mut(own.len() + before);
        places.push((*own, &out[..before], to));
        (rest, out) = (behind, &out[before..]);
    }
    places.into_par_iter().for_each(|(own, out, to)| merge(own, out, to, K::unranked));
    *keys = merged;
}

/// Whether no key comes before the one behind it.
fn is_reversed<K: Key>(keys: &[K], length: usize) -> bool {
    let part = |first: usize| {
        let own = &keys[first..(first + length + 1).min(keys.len())];
        own.windows(2).all(|pair| !pair[0].before(pair[1]))
    };
    (0..keys.len().div_ceil(length)).into_par_iter().all(|at| part(at * length))
}

/// Turns the order round.
fn reverse<K: Key>(keys: &mut [K], length: usize) {
    let half = keys.len() / 2;
    let (left, right) = keys.split_at_mut(half);
    let right = right.par_rchunks_mut(length);
    left.par_chunks_mut(length).zip(right).for_each(|(left, right)| {
        left.iter_mut().zip(right.iter_mut().rev()).for_each(|(a, b)| std::mem::swap(a, b));
    });
}

/// Adds a sorted sequence to sequences each of which ends before the next one begins: the fewer of those keys that are in the way are
/// dropped.
fn join<'a, K: Key>(kept: &mut Vec<&'a [K]>, mut own: &'a [K], dropped: &mut Vec<K>) {
    while let (Some(before), Some(first)) = (kept.last_mut(), own.first()) {
        let last = before[before.len() - 1];
        if last.bits() <= first.bits() {
            break;
        }
        let stay = before.partition_point(|rank| rank.bits() <= first.bits());
        let early = own.partition_point(|rank| rank.bits() < last.bits());
        if before.len() - stay <= early {
            dropped.extend(before[stay..].iter().map(|rank| rank.unranked()));
            *before = &before[..stay];
            if stay == 0 {
                kept.pop();
            }
        } else {
            dropped.extend(own[..early].iter().map(|rank| rank.unranked()));
            own = &own[early..];
        }
    }
    if !own.is_empty() {
        kept.push(own);
    }
}

/// Moves an ascending sequence to the front, as ranks; its length, and all other keys. Nothing where there is little order: the keys
/// are then those that were given, in any order.
fn separate<K: Key>(keys: &mut [K]) -> Option<(usize, Vec<K>)> {
    let before = |one: K, other: K| one.bits() < other.bits();
    let mut dropped: Vec<K> = Vec::new();
    let (mut kept, mut at, mut in_a_row, mut probe) = (0, 0, 0, PROBE);
    while at < keys.len() {
        let key = keys[at].ranked();
        if kept == 0 || !before(key, keys[kept - 1]) {
            keys[kept] = key;
            (kept, at, in_a_row) = (kept + 1, at + 1, 0);
        } else if in_a_row == 0 && kept >= 2 && !before(key, keys[kept - 2]) {
            // The key before was too great, and this one is not.
            dropped.push(keys[kept - 1].unranked());
            keys[kept - 1] = key;
            at += 1;
        } else if in_a_row < MOST_IN_A_ROW {
            dropped.push(keys[at]);
            (at, in_a_row) = (at + 1, in_a_row + 1);
        } else {
            // Those in a row are right, and the key before them is not.
            dropped.truncate(dropped.len() - in_a_row);
            (kept, at, in_a_row) = (kept - 1, at - in_a_row, 0);
            dropped.push(keys[kept].unranked());
        }
        if at >= probe {
            probe = 2 * at;
            if 2 * dropped.len() > at {
                put_back(&mut keys[..at], kept, &dropped);
                return None;
            }
        }
    }
    Some((kept, dropped))
}

/// What was kept and what was dropped are keys in one place again.
fn put_back<K: Key>(keys: &mut [K], kept: usize, dropped: &[K]) {
    keys[..kept].iter_mut().for_each(|key| *key = key.unranked());
    keys[kept..].copy_from_slice(dropped);
}
