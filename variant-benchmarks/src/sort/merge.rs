//! Merge sort between two arrays: blocks that the nearest caches hold are sorted, and merged in pairs, halves and merges by several
//! threads. What is compared are [ranks](Key::ranked), which are integers.

use super::keys::Key;

/// Keys of a block that is sorted before anything is merged.
const BLOCK: usize = 1 << 12;
/// Keys that one thread does alone.
const ALONE: usize = 1 << 15;
/// Steps that are not worth two merges at once.
const FEW: usize = 8;

/// Sorts by merging.
pub fn merge_sort<K: Key>(keys: &mut [K]) {
    if keys.len() <= BLOCK {
        sort_block(keys);
        keys.iter_mut().for_each(|key| *key = key.unranked());
        return;
    }
    let mut other = vec![K::default(); keys.len()];
    halves(keys, &mut other, true);
    let (a, b) = other.split_at(keys.len() / 2);
    merge(a, b, keys, K::unranked);
}

/// Ranks the keys of a block, and sorts them.
fn sort_block<K: Key>(keys: &mut [K]) {
    keys.iter_mut().for_each(|key| *key = key.ranked());
    keys.sort_unstable_by_key(|key| key.bits());
}

/// Ranks keys and sorts them: where they are, or into as much room elsewhere.
pub(super) fn sort_ranks<K: Key>(keys: &mut [K], other: &mut [K], elsewhere: bool) {
    if keys.len() <= BLOCK {
        sort_block(keys);
        if elsewhere {
            other.copy_from_slice(keys);
        }
        return;
    }
    halves(keys, other, !elsewhere);
    let (from, to) = if elsewhere { (keys, other) } else { (other, keys) };
    let (a, b) = from.split_at(from.len() / 2);
    merge(a, b, to, |rank| rank);
}

/// Sorts both halves.
fn halves<K: Key>(keys: &mut [K], other: &mut [K], elsewhere: bool) {
    let middle = keys.len() / 2;
    let ((a, b), (c, d)) = (keys.split_at_mut(middle), other.split_at_mut(middle));
    if middle > ALONE / 2 {
        rayon::join(|| sort_ranks(a, c, elsewhere), || sort_ranks(b, d, elsewhere));
    } else {
        sort_ranks(a, c, elsewhere);
        sort_ranks(b, d, elsewhere);
    }
}

/// Merges two sequences of sorted ranks into one that has room for both; `put` makes of each rank what is stored.
pub(super) fn merge<K: Key>(a: &[K], b: &[K], to: &mut [K], put: impl Fn(K) -> K + Copy + Sync) {
    // The first half, and the second.
    let half = to.len() / 2;
    let left = taken(half, a, b);
    let ((a, c), (b, d)) = (a.split_at(left), b.split_at(half - left));
    let (low, high) = to.split_at_mut(half);
    if half > ALONE {
        rayon::join(|| merge(a, b, low, put), || merge(c, d, high, put));
        return;
    }
    // Both at once: each step of one waits for the step before it.
    let (mut one, mut two) = (Pair { a, b, to: low }, Pair { a: c, b: d, to: high });
    loop {
        let steps = one.steps().min(two.steps());
        if steps < FEW {
            break;
        }
        let (mut first, mut second) = ((0, 0), (0, 0));
        let (left, right) = (one.parts(steps), two.parts(steps));
        for (low, high) in left.2.iter_mut().zip(right.2) {
            *low = put(next(left.0, left.1, &mut first));
            *high = put(next(right.0, right.1, &mut second));
        }
        (one, two) = (one.behind(first), two.behind(second));
    }
    one.finish(put);
    two.finish(put);
}

/// How many of the least `count` numbers of two sorted sequences are of the first one.
fn taken<K: Key>(count: usize, a: &[K], b: &[K]) -> usize {
    let (mut low, mut high) = (count.saturating_sub(b.len()), count.min(a.len()));
    while low < high {
        let middle = low.midpoint(high);
        match a[middle].bits() < b[count - 1 - middle].bits() {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// The lesser of two next numbers, without a branch: which one it is, is by chance.
#[inline(always)]
fn next<K: Key>(a: &[K], b: &[K], at: &mut (usize, usize)) -> K {
    let (first, second) = (a[at.0].bits(), b[at.1].bits());
    let take = second < first;
    at.0 += usize::from(!take);
    at.1 += usize::from(take);
    K::of_bits(first.min(second))
}

/// What is left of a merge.
struct Pair<'a, K> {
    a: &'a [K],
    b: &'a [K],
    to: &'a mut [K],
}

impl<'a, K: Key> Pair<'a, K> {
    /// Steps after which no sequence is exhausted.
    fn steps(&self) -> usize {
        self.a.len().min(self.b.len())
    }

    /// What so many steps read and write.
    fn parts(&mut self, steps: usize) -> (&'a [K], &'a [K], &mut [K]) {
        (&self.a[..steps], &self.b[..steps], &mut self.to[..steps])
    }

    /// What is left when so many were taken.
    fn behind(self, at: (usize, usize)) -> Pair<'a, K> {
        Pair { a: &self.a[at.0..], b: &self.b[at.1..], to: &mut self.to[at.0 + at.1..] }
    }

    /// The rest, alone.
    fn finish(mut self, put: impl Fn(K) -> K) {
        while self.steps() > 0 {
            let mut at = (0, 0);
            let (a, b, to) = self.parts(self.steps());
            to.iter_mut().for_each(|own| *own = put(next(a, b, &mut at)));
            self = self.behind(at);
        }
        let rest = if self.a.is_empty() { self.b } else { self.a };
        self.to.iter_mut().zip(rest).for_each(|(own, rank)| *own = put(*rank));
    }
}
