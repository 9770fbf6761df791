//! Transposition in place: two decompositions, each in passes over columns and rows, or in one walk for matrices of few columns or
//! few rows.
//!
//! B. Catanzaro, A. Keller, M. Garland, "A decomposition for in-place matrix transposition", PPoPP 2014.

mod decompose;
pub mod generate;
mod num;
mod skinny;

pub use decompose::{c2r, r2c};
pub use skinny::{MOST_NARROW, skinny_c2r, skinny_r2c};

use crate::benchmark::{Benchmark, Input, Inputs, Ran, in_turn, one_call};
use crate::random::Random;
use adaptive::{Builder, Context};
use generate::Kind;
use num::gcd;
use std::sync::atomic::{AtomicU64, Ordering};

/// A matrix whose elements several threads move: 64 bits each, whatever they stand for.
pub type Elements = [AtomicU64];

/// A matrix to be transposed, filled with the numbers of its places.
pub struct Transposing {
    /// Rows before.
    rows: usize,
    /// Columns before.
    columns: usize,
    /// Whether rows lie one after the other, and not columns.
    row_major: bool,
    /// The elements.
    pub elements: Vec<AtomicU64>,
}

impl Transposing {
    /// A matrix.
    ///
    /// # Errors
    /// More elements than can be counted.
    pub fn new(rows: usize, columns: usize, row_major: bool) -> Result<Transposing, String> {
        let count = rows
            .checked_mul(columns)
            .filter(|count| *count <= 1 << 40)
            .ok_or_else(|| format!("a matrix of {rows} x {columns} is too large"))?;
        let elements = (0..count as u64).map(AtomicU64::new).collect();
        Ok(Transposing { rows, columns, row_major, elements })
    }

    /// Rows and columns as they lie in memory: columns that lie one after the other are rows of the transposed matrix.
    pub fn in_memory(&self) -> (usize, usize) {
        if self.row_major { (self.rows, self.columns) } else { (self.columns, self.rows) }
    }

    fn by(&self, transpose: fn(&Elements, usize, usize)) -> Ran {
        let (rows, columns) = self.in_memory();
        one_call(|| transpose(&self.elements, rows, columns))
    }
}

/// The benchmark.
pub struct Transpose;

impl Benchmark for Transpose {
    type Argument = Transposing;
    const NAME: &'static str = "transpose";
    const UNSEEN: &'static str = "powers of two";
    const COUNTS: [usize; 2] = [194, 1000];
    const LARGEST: usize = 10_000_000;
    const CALLS: f64 = 1.0;

    fn function() -> Builder<Transposing, Ran> {
        Builder::new(&Context::default(), Self::NAME)
            .variant("c2r", |own: &mut Transposing| own.by(c2r))
            .variant("r2c", |own| own.by(r2c))
            .variant("skinny-c2r", |own| own.by(skinny_c2r))
            .variant("skinny-r2c", |own| own.by(skinny_r2c))
            .constraint("skinny-c2r", |own| own.in_memory().1 <= MOST_NARROW)
            .constraint("skinny-r2c", |own| own.in_memory().0 <= MOST_NARROW)
            .feature("log_rows", |own| (own.rows as f64 + 1.0).ln())
            .feature("log_columns", |own| (own.columns as f64 + 1.0).ln())
            .feature("row_major", |own| f64::from(u8::from(own.row_major)))
            .feature("coprime", |own| f64::from(u8::from(gcd(own.rows, own.columns) == 1)))
    }

    fn inputs(inputs: &Inputs) -> Vec<Input<Transposing>> {
        let make = |kind: Kind, inputs: &Inputs, random: &mut Random| kind.shape(inputs.largest, random);
        in_turn(inputs, &Kind::ALL, Self::UNSEEN, make, |&(rows, columns, row_major)| {
            let elements = (0..(rows * columns) as u64).map(AtomicU64::new).collect();
            Transposing { rows, columns, row_major, elements }
        })
    }

    /// Every element is where its place before says.
    fn check(own: &Transposing) -> Result<(), String> {
        let (rows, columns) = own.in_memory();
        for (at, element) in own.elements.iter().enumerate() {
            let (row, column) = (at / rows, at % rows);
            let wanted = (column * columns + row) as u64;
            let found = element.load(Ordering::Relaxed);
            if found != wanted {
                return Err(format!("place {at} has what was at {found}, not what was at {wanted}"));
            }
        }
        Ok(())
    }
}
