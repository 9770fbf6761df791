//! Plackett-Burman designs (R. L. Plackett, J. P. Burman, Biometrika 33, 1946): the main effects of `n` factors with
//! two levels from `N > n` runs, `N` a multiple of four. They are Hadamard matrices without their column of ones.

use rand::Rng;
use rand::seq::SliceRandom;

/// A design: one row per run, one column per factor, entries 1 and -1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlackettBurman {
    /// The runs, with all `N - 1` columns; those behind the factors are dummies.
    pub runs: Vec<Vec<i8>>,
    /// Number of factors.
    pub factors: usize,
}

/// Most runs.
const MOST_RUNS: usize = 1024;

/// The smallest design that we can construct for a number of factors; `None` beyond 1023 of them. All multiples of
/// four up to 48 are reached; further on a few are passed over for the next.
pub fn plackett_burman(factors: usize) -> Option<PlackettBurman> {
    (1..=MOST_RUNS / 4).map(|k| 4 * k).filter(|&runs| runs > factors).find_map(|runs| {
        let matrix = hadamard(runs)?;
        Some(PlackettBurman { runs: matrix.into_iter().map(|row| row[1..].to_vec()).collect(), factors })
    })
}

impl PlackettBurman {
    /// The same design with its runs in random order.
    #[must_use]
    pub fn randomized(mut self, rng: &mut impl Rng) -> PlackettBurman {
        self.runs.shuffle(rng);
        self
    }
}

/// A Hadamard matrix whose first column is all ones, by the constructions of Paley and Sylvester.
fn hadamard(order: usize) -> Option<Vec<Vec<i8>>> {
    let mut matrix = if order <= 2 {
        (order > 0).then(|| if order == 1 { vec![vec![1]] } else { vec![vec![1, 1], vec![1, -1]] })
    } else if is_prime(order - 1) && (order - 1) % 4 == 3 {
        Some(paley_one(order - 1))
    } else if order.is_multiple_of(4) && is_prime(order / 2 - 1) && (order / 2 - 1) % 4 == 1 {
        Some(paley_two(order / 2 - 1))
    } else if order.is_multiple_of(8) || order == 4 {
        hadamard(order / 2).map(|half| doubled(&half))
    } else {
        None
    }?;
    for row in &mut matrix {
        if row[0] < 0 {
            row.iter_mut().for_each(|entry| *entry = -*entry);
        }
    }
    Some(matrix)
}

fn is_prime(number: usize) -> bool {
    number >= 2 && (2..).take_while(|d| d * d <= number).all(|divisor| !number.is_multiple_of(divisor))
}

/// 1 for squares modulo a prime, -1 for the others, 0 for 0.
fn characters(prime: usize) -> Vec<i8> {
    let mut values = vec![-1; prime];
    (1..prime).for_each(|x| values[x * x % prime] = 1);
    values[0] = 0;
    values
}

/// Rows are cyclic shifts of 1 where the index is 0 or a square: the generators of the original paper; and a row of
/// -1.
fn paley_one(prime: usize) -> Vec<Vec<i8>> {
    let squares = characters(prime);
    let entry = |row: usize, column: usize| if squares[(column + prime - row) % prime] >= 0 { 1 } else { -1 };
    let row = |row: usize| std::iter::once(1).chain((0..prime).map(|column| entry(row, column))).collect();
    let last = std::iter::once(1).chain(std::iter::repeat_n(-1, prime)).collect();
    (0..prime).map(row).chain([last]).collect()
}

/// Each entry of the symmetric conference matrix of order `prime + 1` becomes a two by two block.
fn paley_two(prime: usize) -> Vec<Vec<i8>> {
    let squares = characters(prime);
    let conference = |row: usize, column: usize| match (row, column) {
        (0, 0) => 0,
        (0, _) | (_, 0) => 1,
        _ => squares[(column + prime - row) % prime],
    };
    let order = 2 * (prime + 1);
    let entry = |row: usize, column: usize| {
        let value = conference(row / 2, column / 2);
        match (value, row % 2, column % 2) {
            (0, 0, 0) => 1,
            (0, ..) => -1,
            (_, 1, 1) => -value,
            _ => value,
        }
    };
    (0..order).map(|row| (0..order).map(|column| entry(row, column)).collect()).collect()
}

fn doubled(half: &[Vec<i8>]) -> Vec<Vec<i8>> {
    let joined = |row: &Vec<i8>, sign: i8| row.iter().copied().chain(row.iter().map(|e| sign * e)).collect();
    half.iter().map(|row| joined(row, 1)).chain(half.iter().map(|row| joined(row, -1))).collect()
}
