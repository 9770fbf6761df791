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

/// Columns that are moved together at least: as many as a line of the cache has.
const LINE: usize = 8;
/// The most, and the numbers of them that the second cache holds.
const MOST: usize = 64;
const ROOM: usize = 1 << 15;

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

    /// The rows from which the elements of column 0 are gathered; those of column j are j rows behind them.
    fn gathered(self) -> Vec<usize> {
        let (mut rows, mut at) = (Vec::with_capacity(self.m), 0);
        for i in 0..self.m {
            // i n - i / a, modulo m.
            if i > 0 && i.is_multiple_of(self.a) {
                at = if at == 0 { self.m - 1 } else { at - 1 };
            }
            rows.push(at);
            at += self.n % self.m;
            at -= if at >= self.m { self.m } else { 0 };
        }
        rows
    }
}

/// Whether elements come from the place that a permutation names, or go there.
#[derive(Clone, Copy)]
enum Move {
    From,
    To,
}

/// Permutes each column: element i of column j has to do with the row that is `offset(j)` behind `rows[i]`. What is in memory is read
/// and written row by row; the permutation is of what the cache holds.
fn columns(
    elements: &Elements,
    sizes: Sizes,
    way: Move,
    rows: &[usize],
    offset: impl Fn(usize) -> usize + Sync,
) {
    let Sizes { m, n, .. } = sizes;
    let width = (ROOM / m / LINE * LINE).clamp(LINE, MOST).min(n);
    (0..n.div_ceil(width)).into_par_iter().for_each_init(
        || vec![0; m * width],
        |room, part| {
            let own = part * width..((part + 1) * width).min(n);
            let offsets: Vec<usize> = own.clone().map(|j| offset(j) % m).collect();
            let row = |i: usize| &elements[i * n + own.start..i * n + own.end];
            let place = |i: usize, column: usize| {
                let at = rows[i] + offsets[column];
                (at - if at >= m { m } else { 0 }) * width + column
            };
            match way {
                Move::From => {
                    for (i, room) in room.chunks_exact_mut(width).enumerate() {
                        room.iter_mut().zip(row(i)).for_each(|(own, element)| *own = element.load(Relaxed));
                    }
                    for i in 0..m {
                        let each = row(i).iter().enumerate();
                        each.for_each(|(column, element)| element.store(room[place(i, column)], Relaxed));
                    }
                }
                Move::To => {
                    for i in 0..m {
                        let each = row(i).iter().enumerate();
                        each.for_each(|(column, element)| room[place(i, column)] = element.load(Relaxed));
                    }
                    for (i, room) in room.chunks_exact(width).enumerate() {
                        row(i).iter().zip(room).for_each(|(element, own)| element.store(*own, Relaxed));
                    }
                }
            }
        },
    );
}

/// Permutes each row as the decomposition says.
fn rows(elements: &Elements, sizes: Sizes, way: Move) {
    let Sizes { m, n, b, .. } = sizes;
    // So many rows that a task is worth its while.
    let each = (4096 / n).max(1);
    let step = m % n;
    (0..m.div_ceil(each)).into_par_iter().for_each_init(
        || vec![0; n],
        |room, part| {
            for i in part * each..((part + 1) * each).min(m) {
                let row = &elements[i * n..(i + 1) * n];
                // Of (i + j / b) mod m, and the same modulo n: where every b-th column goes, for b m is a multiple of n.
                let (mut turned, mut first) = (i, i % n);
                for start in (0..n).step_by(b) {
                    let mut place = first;
                    for j in start..start + b {
                        match way {
                            Move::From => room[j] = row[place].load(Relaxed),
                            Move::To => room[place] = row[j].load(Relaxed),
                        }
                        place += step;
                        place -= if place >= n { n } else { 0 };
                    }
                    (turned, first) = (turned + 1, first + 1);
                    if turned == m {
                        (turned, first) = (0, 0);
                    } else if first == n {
                        first = 0;
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
        let straight: Vec<usize> = (0..m).collect();
        columns(elements, sizes, Move::From, &straight, |j| j / sizes.b);
    }
    rows(elements, sizes, Move::To);
    columns(elements, sizes, Move::From, &sizes.gathered(), |j| j);
}

/// Transposes a matrix of m x n elements: rows become columns.
pub fn r2c(elements: &Elements, m: usize, n: usize) {
    if elements.is_empty() {
        return;
    }
    // What C2R of n x m elements does, backwards.
    let sizes = Sizes::new(n, m);
    columns(elements, sizes, Move::To, &sizes.gathered(), |j| j);
    rows(elements, sizes, Move::From);
    if sizes.c > 1 {
        let straight: Vec<usize> = (0..n).collect();
        columns(elements, sizes, Move::To, &straight, |j| j / sizes.b);
    }
}
