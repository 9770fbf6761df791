//! The same permutations for few columns: rows are small enough that all columns move together, in walks through memory.
//!
//! With `r = i + j / b`, where `j / b < c <= n`, a turned row needs the n rows behind it alone: turning and scattering are one walk with
//! as many rows kept. Gathering is a turn of column j by j, and then one permutation of whole rows, `i n - i / a mod m`, which is followed
//! cycle by cycle.

use super::Elements;
use super::decompose::Sizes;
use std::sync::atomic::Ordering::Relaxed;

/// Columns that are few.
pub const MOST_NARROW: usize = 32;

type Row = [u64; MOST_NARROW];

fn load(elements: &Elements, row: usize, n: usize) -> Row {
    let mut own = [0; MOST_NARROW];
    own.iter_mut()
        .zip(&elements[row * n..(row + 1) * n])
        .for_each(|(own, element)| *own = element.load(Relaxed));
    own
}

fn store(elements: &Elements, row: usize, n: usize, own: &Row) {
    elements[row * n..(row + 1) * n]
        .iter()
        .zip(own)
        .for_each(|(element, value)| element.store(*value, Relaxed));
}

/// A matrix that is walked through, with those rows kept that are overwritten before they are read.
struct Walk<'a> {
    elements: &'a Elements,
    m: usize,
    n: usize,
    /// The first or the last rows.
    kept: Vec<Row>,
}

impl Walk<'_> {
    /// Row by row, first to last: row i becomes what `row` makes of it and of rows behind it, fewer than n; the first rows are
    /// behind the last ones.
    fn forwards(elements: &Elements, m: usize, n: usize, row: impl Fn(usize, &Walk<'_>) -> Row) {
        let kept = (0..n.min(m)).map(|at| load(elements, at, n)).collect();
        let walk = Walk { elements, m, n, kept };
        (0..m).for_each(|i| store(elements, i, n, &row(i, &walk)));
    }

    /// Last to first: row i becomes what `row` makes of it and of rows before it, fewer than n; the last rows are before the first.
    fn backwards(elements: &Elements, m: usize, n: usize, row: impl Fn(usize, &Walk<'_>) -> Row) {
        let kept = (m - n.min(m)..m).map(|at| load(elements, at, n)).collect();
        let walk = Walk { elements, m, n, kept };
        (0..m).rev().for_each(|i| store(elements, i, n, &row(i, &walk)));
    }

    /// An element of a row that is so far behind row i.
    fn behind(&self, i: usize, far: usize, column: usize) -> u64 {
        match i + far {
            row if row < self.m => self.elements[row * self.n + column].load(Relaxed),
            row => self.kept[row % self.m][column],
        }
    }

    /// An element of a row that is so far before row i.
    fn before(&self, i: usize, far: usize, column: usize) -> u64 {
        match i.checked_sub(far) {
            Some(row) => self.elements[row * self.n + column].load(Relaxed),
            None => {
                let row = self.row_before(i, far);
                self.kept[row - (self.m - self.kept.len())][column]
            }
        }
    }

    /// Which row that is.
    fn row_before(&self, i: usize, far: usize) -> usize {
        // At most n rows before, of which there may be more than m.
        (i + self.n * self.m - far) % self.m
    }
}

/// Whole rows: row i comes from `from(i)`, or goes there.
fn rows(elements: &Elements, m: usize, n: usize, gather: bool, place: impl Fn(usize) -> usize) {
    let mut done = vec![false; m];
    for start in 0..m {
        if done[start] {
            continue;
        }
        let mut held = load(elements, start, n);
        let mut at = start;
        loop {
            done[at] = true;
            let next = place(at);
            if gather {
                if next == start {
                    store(elements, at, n, &held);
                    break;
                }
                store(elements, at, n, &load(elements, next, n));
            } else {
                let moved = load(elements, next, n);
                store(elements, next, n, &held);
                held = moved;
                if next == start {
                    break;
                }
            }
            at = next;
        }
    }
}

/// Transposes a matrix of m x n elements, where n is at most [`MOST_NARROW`].
///
/// # Panics
/// Where there are more columns.
pub fn skinny_c2r(elements: &Elements, m: usize, n: usize) {
    if elements.is_empty() {
        return;
    }
    let sizes = Sizes::new(m, n);
    Walk::forwards(elements, m, n, |i, walk| {
        let mut own = [0; MOST_NARROW];
        (0..n).for_each(|j| own[sizes.scattered(i, j)] = walk.behind(i, j / sizes.b, j));
        own
    });
    Walk::forwards(elements, m, n, |i, walk| {
        let mut own = [0; MOST_NARROW];
        (0..n).for_each(|j| own[j] = walk.behind(i, j, j));
        own
    });
    rows(elements, m, n, true, |i| (i * n - i / sizes.a) % m);
}

/// Transposes a matrix of m x n elements, where m is at most [`MOST_NARROW`].
///
/// # Panics
/// Where there are more rows.
pub fn skinny_r2c(elements: &Elements, m: usize, n: usize) {
    if elements.is_empty() {
        return;
    }
    // What C2R of n x m elements does, backwards.
    let (m, n) = (n, m);
    let sizes = Sizes::new(m, n);
    rows(elements, m, n, false, |i| (i * n - i / sizes.a) % m);
    Walk::backwards(elements, m, n, |i, walk| {
        let mut own = [0; MOST_NARROW];
        (0..n).for_each(|j| own[j] = walk.before(i, j, j));
        own
    });
    Walk::backwards(elements, m, n, |i, walk| {
        let mut own = [0; MOST_NARROW];
        for (j, own) in own.iter_mut().enumerate().take(n) {
            let turn = j / sizes.b;
            *own = walk.before(i, turn, sizes.scattered(walk.row_before(i, turn), j));
        }
        own
    });
}
