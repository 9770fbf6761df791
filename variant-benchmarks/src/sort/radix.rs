//! Radix sort by digits of eight bits, least first: counts and moves by several threads.

use super::keys::Key;
use rayon::prelude::*;

const DIGITS: usize = 256;
/// Digits of the longest keys.
const MOST: usize = 8;
/// Fewer keys are not worth another thread.
const ALONE: usize = 1 << 15;

/// Sorts digit by digit. Digits that all keys have in common are left out.
pub fn radix_sort<K: Key>(keys: &mut Vec<K>) {
    let blocks = rayon::current_num_threads().min(keys.len().div_ceil(ALONE)).max(1);
    let length = keys.len().div_ceil(blocks).max(1);
    let mut other = vec![K::default(); keys.len()];
    if blocks == 1 {
        return alone(keys, &mut other);
    }
    for shift in (0..K::BITS).step_by(8) {
        let digit = |key: K| (key.rank() >> shift) as usize % DIGITS;
        let counts: Vec<[usize; DIGITS]> = keys
            .par_chunks(length)
            .map(|block| {
                let mut counts = [0; DIGITS];
                block.iter().for_each(|&key| counts[digit(key)] += 1);
                counts
            })
            .collect();
        let of_all = |digit: usize| counts.iter().map(|own| own[digit]).sum::<usize>();
        if (0..DIGITS).any(|digit| of_all(digit) == keys.len()) {
            continue;
        }
        // For each block the places of its keys: digit by digit, and within a digit block by block.
        let mut rest = &mut other[..];
        let mut places: Vec<Vec<std::slice::IterMut<K>>> =
            counts.iter().map(|_| Vec::with_capacity(DIGITS)).collect();
        for digit in 0..DIGITS {
            for (own, places) in counts.iter().zip(&mut places) {
                let (room, after) = rest.split_at_mut(own[digit]);
                places.push(room.iter_mut());
                rest = after;
            }
        }
        keys.par_chunks(length).zip(places).for_each(|(block, mut places)| {
            for &key in block {
                if let Some(place) = places[digit(key)].next() {
                    *place = key;
                }
            }
        });
        std::mem::swap(keys, &mut other);
    }
}

/// Sorts by one thread, which counts all digits at once.
fn alone<K: Key>(keys: &mut Vec<K>, other: &mut Vec<K>) {
    let Some(first) = keys.first().map(|key| key.rank()) else { return };
    let digit = |rank: u64, at: usize| (rank >> (8 * at)) as usize % DIGITS;
    let mut counts = [[0; DIGITS]; MOST];
    let counts = &mut counts[..(K::BITS / 8) as usize];
    for key in &*keys {
        let rank = key.rank();
        counts.iter_mut().enumerate().for_each(|(at, own)| own[digit(rank, at)] += 1);
    }
    for (at, places) in counts.iter_mut().enumerate() {
        if places[digit(first, at)] == keys.len() {
            continue;
        }
        let mut before = 0;
        for place in places.iter_mut() {
            (*place, before) = (before, before + *place);
        }
        for &key in &*keys {
            let place = &mut places[digit(key.rank(), at)];
            other[*place] = key;
            *place += 1;
        }
        std::mem::swap(keys, other);
    }
}
