//! Matrices of few columns or few rows. The permutations of columns and of each row are one walk over all rows: with `R` the row
//! and j the column from which an element comes, and `s = (R + j m) mod n`, it goes to column s of row `R - j / b - s`, modulo m, so
//! that only the next rows are needed. What is left is a permutation of whole rows, which is taken cycle by cycle.

use super::Elements;
use super::decompose::Sizes;
use rayon::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// Columns that are few.
pub const MOST_NARROW: usize = 32;
/// Rows that are not worth another thread.
const ALONE: usize = 4096;
/// Pieces of cycles that a thread follows at once: each step of one waits for the memory.
const AT_ONCE: usize = 8;

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

/// A matrix that is walked through, parts by several threads.
struct Walk<'a> {
    elements: &'a Elements,
    m: usize,
    n: usize,
    /// How many rows before its own the elements of each column go to, and the column, both less what depends on the row.
    turns: [usize; MOST_NARROW],
    columns: [usize; MOST_NARROW],
    /// Rows of a part.
    length: usize,
    /// The rows of each part that are overwritten by the time another one asks for them: those at its beginning, or at its end.
    kept: Vec<Vec<Row>>,
}

impl<'a> Walk<'a> {
    fn new(elements: &'a Elements, sizes: Sizes, forwards: bool) -> Walk<'a> {
        let Sizes { m, n, b, .. } = sizes;
        let parts = rayon::current_num_threads().min(m / ALONE).max(1);
        let length = m.div_ceil(parts);
        let keep = |first: usize| {
            let (end, most) = ((first + length).min(m), 2 * n);
            let rows = if forwards {
                first..end.min(first + most)
            } else {
                end.saturating_sub(most).max(first)..end
            };
            rows.map(|row| load(elements, row, n)).collect()
        };
        let kept = (0..m).step_by(length).map(keep).collect();
        let (turns, columns) = (std::array::from_fn(|j| j / b), std::array::from_fn(|j| j * m % n));
        Walk { elements, m, n, turns, columns, length, kept }
    }

    fn each_part(&self, part: impl Fn(usize, usize, usize) + Sync) {
        let parts = self.kept.len();
        (0..parts)
            .into_par_iter()
            .for_each(|at| part(at, at * self.length, ((at + 1) * self.length).min(self.m)));
    }

    /// First to last: each row becomes what goes there.
    fn forwards(&self) {
        let (m, n) = (self.m, self.n);
        // Where nothing is behind the last row, all of a row comes from one column.
        let mut from = [0; MOST_NARROW];
        for j in 0..n {
            from[(n - (self.turns[j] + self.columns[j]) % n) % n] = j;
        }
        self.each_part(|part, first, end| {
            let next = &self.kept[(part + 1) % self.kept.len()];
            for i in first..end {
                let mut own = [0; MOST_NARROW];
                if i + 2 * n <= end {
                    let j = from[i % n];
                    let column = self.elements[(i + self.turns[j]) * n + j..].iter().step_by(n);
                    own[..n].iter_mut().zip(column).for_each(|(own, element)| *own = element.load(Relaxed));
                } else {
                    for (s, own) in own.iter_mut().enumerate().take(n) {
                        let row = |j: usize| i + s + self.turns[j];
                        let goes_there = |j: &usize| (row(*j) % m + self.columns[*j]) % n == s;
                        let j = (0..n).find(goes_there).unwrap_or(0);
                        *own = match row(j) {
                            row if row < end => self.elements[row * n + j].load(Relaxed),
                            row => next[(row - end) % m][j],
                        };
                    }
                }
                store(self.elements, i, n, &own);
            }
        });
    }

    /// Last to first, the other way round: what each row becomes is where it would go.
    fn backwards(&self) {
        let n = self.n;
        self.each_part(|part, first, end| {
            let before = &self.kept[(part + self.kept.len() - 1) % self.kept.len()];
            for row in (first..end).rev() {
                let mut own = [0; MOST_NARROW];
                let at = row % n;
                for (j, own) in own.iter_mut().enumerate().take(n) {
                    let s = at + self.columns[j];
                    let s = s - if s >= n { n } else { 0 };
                    let far = self.turns[j] + s;
                    *own = match row.checked_sub(far + first) {
                        Some(_) => self.elements[(row - far) * n + s].load(Relaxed),
                        None => before[before.len() - 1 - (first + far - row - 1) % self.m][s],
                    };
                }
                store(self.elements, row, n, &own);
            }
        });
    }
}

/// A piece of a cycle of rows: a row, and which piece is behind it.
struct Piece {
    start: usize,
    behind: usize,
}

/// The cycles of a permutation, in pieces of about so many rows. Rows that stay are in none.
fn pieces(m: usize, length: usize, place: impl Fn(usize) -> usize) -> Vec<Piece> {
    let mut done = vec![false; m];
    let mut pieces: Vec<Piece> = Vec::new();
    for start in 0..m {
        if done[start] || place(start) == start {
            continue;
        }
        let first = pieces.len();
        let (mut at, mut left) = (start, 0);
        while !done[at] {
            if left == 0 {
                pieces.push(Piece { start: at, behind: pieces.len() + 1 });
                left = length;
            }
            done[at] = true;
            (at, left) = (place(at), left - 1);
        }
        if let Some(last) = pieces.last_mut() {
            last.behind = first;
        }
    }
    pieces
}

/// Where whole rows come from, or where they go.
#[derive(Clone, Copy)]
enum Rows {
    From,
    To,
}

/// Whole rows: row i comes from `place(i)`, or goes there.
fn rows(elements: &Elements, m: usize, n: usize, way: Rows, place: impl Fn(usize) -> usize + Sync) {
    let threads = rayon::current_num_threads();
    let pieces = pieces(m, (m / (4 * AT_ONCE * threads)).max(64), &place);
    // The first row of a piece is also the end of the one before it.
    let heads: Vec<Row> = pieces.iter().map(|piece| load(elements, piece.start, n)).collect();
    pieces.par_chunks(AT_ONCE).zip(heads.par_chunks(AT_ONCE)).for_each(|(own, held)| {
        let one = |(piece, held): (&Piece, &Row)| (piece.start, piece.behind, *held);
        let mut at: Vec<(usize, usize, Row)> = own.iter().zip(held).map(one).collect();
        while !at.is_empty() {
            at.retain_mut(|(row, behind, held)| {
                let next = place(*row);
                let ends = next == pieces[*behind].start;
                let moved = if ends { heads[*behind] } else { load(elements, next, n) };
                match way {
                    Rows::From => store(elements, *row, n, &moved),
                    Rows::To => store(elements, next, n, held),
                }
                (*row, *held) = (next, moved);
                !ends
            });
        }
    });
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
    Walk::new(elements, sizes, true).forwards();
    rows(elements, m, n, Rows::From, |i| (i * n - i / sizes.a) % m);
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
    rows(elements, m, n, Rows::To, |i| (i * n - i / sizes.a) % m);
    Walk::new(elements, sizes, false).backwards();
}
