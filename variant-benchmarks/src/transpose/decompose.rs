//! The decomposition: a matrix of m x n elements, row by row, becomes its transpose by permutations of columns, of rows and of
//! columns again. With `c = gcd(m, n)`, `a = m / c`, `b = n / c` (equations 23 to 26 of the paper):
//!
//! * column j turns: from row `(i + j / b) mod m`, where c > 1;
//! * in row i, the element of column j goes to column `((i + j / b) mod m + j m) mod n`;
//! * column j is gathered: from row `(j + i n - i / a) mod m`.
//!
//! R2C is the inverse for m and n exchanged: its permutations, last first, turned round.

use super::Elements;
use super::num::gcd;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// Columns that are moved together: as many as a line of the cache has.
const TOGETHER: usize = 8;

/// Sizes of a decomposition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) c: usize,
}

impl Sizes {
    /// Those of a matrix with elements.
    pub(super) fn new(m: usize, n: usize) -> Sizes {
        let c = gcd(m, n);
        Sizes { m, n, a: m / c, b: n / c, c }
    }

    /// The row from which element i of a turned column j comes.
    pub(super) fn turned(self, i: usize, j: usize) -> usize {
        (i + j / self.b) % self.m
    }

    /// The column to which element j of row i goes.
    pub(super) fn scattered(self, i: usize, j: usize) -> usize {
        ((i + j / self.b) % self.m + j * self.m) % self.n
    }

    /// The row from which element i of column j is gathered.
    pub(super) fn gathered(self, i: usize, j: usize) -> usize {
        (j + i * self.n - i / self.a) % self.m
    }
}

/// Whether elements come from the place that a permutation names, or go there.
#[derive(Clone, Copy)]
enum Move {
    From,
    To,
}

/// Permutes each column.
fn columns(elements: &Elements, sizes: Sizes, way: Move, place: impl Fn(usize, usize) -> usize + Sync) {
    let Sizes { m, n, .. } = sizes;
    (0..n.div_ceil(TOGETHER)).into_par_iter().for_each_init(
        || vec![0; m * TOGETHER],
        |room, part| {
            let own = part * TOGETHER..((part + 1) * TOGETHER).min(n);
            for i in 0..m {
                for j in own.clone() {
                    let (from, to) = match way {
                        Move::From => (place(i, j), i),
                        Move::To => (i, place(i, j)),
                    };
                    room[to * TOGETHER + j - own.start] = elements[from * n + j].load(Relaxed);
                }
            }
            for i in 0..m {
                for j in own.clone() {
                    elements[i * n + j].store(room[i * TOGETHER + j - own.start], Relaxed);
                }
            }
        },
    );
}

/// Permutes each row.
fn rows(elements: &Elements, sizes: Sizes, way: Move, place: impl Fn(usize, usize) -> usize + Sync) {
    let Sizes { m, n, .. } = sizes;
    // So many rows that a task is worth its while.
    let each = (4096 / n).max(1);
    (0..m.div_ceil(each)).into_par_iter().for_each_init(
        || vec![0; n],
        |room, part| {
            for i in part * each..((part + 1) * each).min(m) {
                let row = &elements[i * n..(i + 1) * n];
                for (j, element) in row.iter().enumerate() {
                    match way {
                        Move::From => room[j] = row[place(i, j)].load(Relaxed),
                        Move::To => room[place(i, j)] = element.load(Relaxed),
                    }
                }
                row.iter().zip(&*room).for_each(|(element, value)| element.store(*value, Relaxed));
            }
        },
    );
}

/// Transposes a matrix of m x n elements: columns become rows.
pub fn c2r(elements: &Elements, m: usize, n: usize) {
    if elements.is_empty() {
        return;
    }
    let sizes = Sizes::new(m, n);
    if sizes.c > 1 {
        columns(elements, sizes, Move::From, |i, j| sizes.turned(i, j));
    }
    rows(elements, sizes, Move::To, |i, j| sizes.scattered(i, j));
    columns(elements, sizes, Move::From, |i, j| sizes.gathered(i, j));
}

/// Transposes a matrix of m x n elements: rows become columns.
pub fn r2c(elements: &Elements, m: usize, n: usize) {
    if elements.is_empty() {
        return;
    }
    // What C2R of n x m elements does, backwards.
    let sizes = Sizes::new(n, m);
    columns(elements, sizes, Move::To, |i, j| sizes.gathered(i, j));
    rows(elements, sizes, Move::From, |i, j| sizes.scattered(i, j));
    if sizes.c > 1 {
        columns(elements, sizes, Move::To, |i, j| sizes.turned(i, j));
    }
}
