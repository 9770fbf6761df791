//! A sort that uses the order that is there: keys that are out of place are taken out, sorted, and merged in again.
//!
//! E. Ernerfeldt, "Drop-merge sort", 2016 (<https://github.com/emilk/drop-merge-sort>).

use super::keys::Key;
use super::merge::{merge, merge_sort};

/// So many keys in a row that are out of place: the key before them was.
const MOST_IN_A_ROW: usize = 8;
/// Keys after which it is asked whether there is any order.
const PROBE: usize = 4096;

/// Sorts by taking out what is not in order.
pub fn locality_sort<K: Key>(keys: &mut Vec<K>) {
    if keys.windows(2).all(|pair| pair[1].before(pair[0])) {
        keys.reverse();
        return;
    }
    let Some((kept, mut dropped)) = separate(keys) else {
        return merge_sort(keys);
    };
    if dropped.is_empty() {
        return;
    }
    merge_sort(&mut dropped);
    let mut merged = vec![K::default(); keys.len()];
    merge(&keys[..kept], &dropped, &mut merged);
    *keys = merged;
}

/// Moves an ascending sequence to the front; its length, and all other keys. Nothing where there is little order: the keys
/// are then those that were given, in any order.
fn separate<K: Key>(keys: &mut [K]) -> Option<(usize, Vec<K>)> {
    let mut dropped: Vec<K> = Vec::new();
    let (mut kept, mut at, mut in_a_row, mut probe) = (0, 0, 0, PROBE);
    while at < keys.len() {
        let key = keys[at];
        if kept == 0 || !key.before(keys[kept - 1]) {
            keys[kept] = key;
            (kept, at, in_a_row) = (kept + 1, at + 1, 0);
        } else if in_a_row == 0 && kept >= 2 && !key.before(keys[kept - 2]) {
            // The key before was too great, and this one is not.
            dropped.push(keys[kept - 1]);
            keys[kept - 1] = key;
            at += 1;
        } else if in_a_row < MOST_IN_A_ROW {
            dropped.push(key);
            (at, in_a_row) = (at + 1, in_a_row + 1);
        } else {
            // Those in a row are right, and the key before them is not.
            dropped.truncate(dropped.len() - in_a_row);
            (kept, at, in_a_row) = (kept - 1, at - in_a_row, 0);
            dropped.push(keys[kept]);
        }
        if at >= probe {
            probe = 2 * at;
            if 2 * dropped.len() > at {
                // What was kept and what was dropped fill the keys so far.
                keys[kept..at].copy_from_slice(&dropped);
                return None;
            }
        }
    }
    Some((kept, dropped))
}
