//! Merge sort from the top down, between two arrays, halves and merges by several threads.

use super::keys::Key;

/// Keys that are sorted by insertion.
const FEW: usize = 24;
/// Keys that one thread does alone.
const ALONE: usize = 1 << 14;

/// Sorts by merging.
pub fn merge_sort<K: Key>(keys: &mut [K]) {
    let mut other = keys.to_vec();
    sort_to(&mut other, keys);
}

/// Sorts the keys that both arrays hold into the second one.
fn sort_to<K: Key>(from: &mut [K], to: &mut [K]) {
    if to.len() <= FEW {
        insertion_sort(to);
        return;
    }
    let middle = to.len() / 2;
    {
        let ((a, b), (c, d)) = (from.split_at_mut(middle), to.split_at_mut(middle));
        let (left, right) = (|| sort_to(c, a), || sort_to(d, b));
        both(middle > ALONE, left, right);
    }
    let (a, b) = from.split_at(middle);
    merge(a, b, to);
}

fn both(at_once: bool, left: impl FnOnce() + Send, right: impl FnOnce() + Send) {
    if at_once {
        rayon::join(left, right);
    } else {
        left();
        right();
    }
}

/// Sorts few keys.
pub(super) fn insertion_sort<K: Key>(keys: &mut [K]) {
    for end in 1..keys.len() {
        let key = keys[end];
        let mut at = end;
        while at > 0 && key.before(keys[at - 1]) {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

/// Merges two sorted sequences into one that has room for both; of equal keys those of the first come first.
pub(super) fn merge<K: Key>(a: &[K], b: &[K], to: &mut [K]) {
    if to.len() > 2 * ALONE {
        // Half of the longer one, and what of the other belongs before it.
        let (left, right) = match a.len() >= b.len() {
            true => {
                let middle = a.len() / 2;
                (middle, b.partition_point(|key| key.before(a[middle])))
            }
            false => {
                let middle = b.len() / 2;
                (a.partition_point(|key| !b[middle].before(*key)), middle)
            }
        };
        let ((a, c), (b, d)) = (a.split_at(left), b.split_at(right));
        let (low, high) = to.split_at_mut(left + right);
        rayon::join(|| merge(a, b, low), || merge(c, d, high));
        return;
    }
    let (mut i, mut j) = (0, 0);
    for slot in to.iter_mut() {
        let (Some(&first), Some(&second)) = (a.get(i), b.get(j)) else { break };
        // Without a branch: which comes first is by chance.
        let take = second.before(first);
        *slot = if take { second } else { first };
        j += usize::from(take);
        i += usize::from(!take);
    }
    let done = i + j;
    let rest = if i < a.len() { &a[i..] } else { &b[j..] };
    to[done..].copy_from_slice(rest);
}
