//! Sparse matrix times vector: five formats, six variants.
//!
//! A call multiplies one matrix by a vector many times, as an iterative solver does: storing the matrix in a format of its own
//! counts once.

use crate::benchmark::{Benchmark, Input, Inputs, Ran, converted, in_turn};
use crate::random::{Random, size};
use crate::sparse::generate::Kind;
use crate::sparse::{Csr, Dia, Ell, Sell, features};
use adaptive::{Builder, Context};
use rand::Rng;
use std::sync::Arc;

/// Formats that store more values for each entry than this are refused.
pub const MOST_FILL: f64 = 12.0;
/// Entries of the smallest matrices.
const LEAST: usize = 1000;
/// Products of a run, of which the fastest counts.
const REPEAT: usize = 5;

/// A product to be computed.
pub struct Multiply {
    matrix: Arc<Csr>,
    x: Arc<Vec<f64>>,
    /// What the serial product gives.
    reference: Arc<Vec<f64>>,
    /// The result.
    pub y: Vec<f64>,
}

impl Multiply {
    /// A matrix and a vector.
    ///
    /// # Errors
    /// A vector of another length than the matrix's rows.
    pub fn new(matrix: Arc<Csr>, x: Vec<f64>) -> Result<Multiply, String> {
        if x.len() != matrix.columns() {
            return Err(format!("{} columns, and a vector of {}", matrix.columns(), x.len()));
        }
        Ok(Multiply::of(matrix, x))
    }

    /// As [`Multiply::new`], where the lengths are known to fit.
    fn of(matrix: Arc<Csr>, x: Vec<f64>) -> Multiply {
        let mut reference = vec![0.0; matrix.rows()];
        matrix.multiply_serial(&x, &mut reference);
        Multiply { y: vec![f64::NAN; matrix.rows()], matrix, x: Arc::new(x), reference: Arc::new(reference) }
    }

    /// The matrix.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// The vector.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    /// The same product, not yet computed.
    pub fn again(&self) -> Multiply {
        Multiply {
            matrix: Arc::clone(&self.matrix),
            x: Arc::clone(&self.x),
            reference: Arc::clone(&self.reference),
            // What no variant may leave.
            y: vec![f64::NAN; self.y.len()],
        }
    }

    fn in_format<T>(&mut self, new: fn(&Arc<Csr>) -> T, multiply: fn(&T, &[f64], &mut [f64])) -> Ran {
        converted(REPEAT, || new(&self.matrix), |format| multiply(format, &self.x, &mut self.y))
    }

    fn by_rows(&mut self, multiply: fn(&Csr, &[usize], &[f64], &mut [f64])) -> Ran {
        let parts = || self.matrix.parts(4 * rayon::current_num_threads());
        converted(REPEAT, parts, |parts| multiply(&self.matrix, parts, &self.x, &mut self.y))
    }
}

/// The benchmark.
pub struct Spmv;

impl Benchmark for Spmv {
    type Argument = Multiply;
    const NAME: &'static str = "spmv";
    const UNSEEN: &'static str = "mesh";
    const COUNTS: [usize; 2] = [432, 100];
    const LARGEST: usize = 4_000_000;
    // Those of a solver that converges well.
    const CALLS: f64 = 100.0;

    fn function() -> Builder<Multiply, Ran> {
        Builder::new(&Context::default(), Self::NAME)
            .variant("csr-parallel", |own: &mut Multiply| own.by_rows(Csr::multiply_parallel))
            .variant("csr-serial", |own| {
                converted(REPEAT, || (), |()| own.matrix.multiply_serial(&own.x, &mut own.y))
            })
            .variant("csr-vector", |own| own.by_rows(Csr::multiply_vector))
            .variant("dia", |own| own.in_format(Dia::new, Dia::multiply))
            .variant("ell", |own| own.in_format(Ell::new, Ell::multiply))
            .variant("sell", |own| own.in_format(Sell::new, Sell::multiply))
            .constraint("dia", |own| features::dia_fill(&own.matrix) <= MOST_FILL)
            .constraint("ell", |own| features::ell_fill(&own.matrix) <= MOST_FILL)
            .feature("log_rows", |own| (own.matrix.rows() as f64 + 1.0).ln())
            .feature("log_entries", |own| (own.matrix.entries() as f64 + 1.0).ln())
            .feature("avg_nz_per_row", |own| features::average_length(&own.matrix))
            .feature("row_length_sd", |own| features::length_deviation(&own.matrix))
            .feature("max_deviation", |own| features::longest_deviation(&own.matrix))
            .feature("dia_fill", |own| features::dia_fill_sampled(&own.matrix).ln())
            .feature("ell_fill", |own| features::ell_fill(&own.matrix).ln())
    }

    fn inputs(inputs: &Inputs) -> Vec<Input<Multiply>> {
        let make = |kind: Kind, inputs: &Inputs, random: &mut Random| {
            let entries = size(random, LEAST.min(inputs.largest), inputs.largest);
            let matrix = kind.matrix(entries, random);
            let x = (0..matrix.columns()).map(|_| random.random_range(-1.0..1.0)).collect();
            Multiply::of(Arc::new(matrix), x)
        };
        in_turn(inputs, &Kind::ALL, Self::UNSEEN, make, Multiply::again)
    }

    /// Each element within what another order of the sum may change: `length * epsilon * sum |a x|`.
    fn check(own: &Multiply) -> Result<(), String> {
        for (row, (&found, &wanted)) in own.y.iter().zip(&*own.reference).enumerate() {
            let (places, values) = own.matrix.row(row);
            let sizes = places.iter().zip(values).map(|(&at, value)| (value * own.x[at as usize]).abs());
            let size: f64 = sizes.clone().sum();
            let bound = (places.len() + 8) as f64 * f64::EPSILON * size;
            let same = found == wanted || found.is_nan() && wanted.is_nan();
            // Where the sum of finite sizes overflows, so may sums in another order.
            let overflow = size.is_infinite() && sizes.clone().all(f64::is_finite);
            let right = same || bound.is_finite() && (found - wanted).abs() <= bound || overflow;
            if !right {
                return Err(format!("row {row} is {found}, not {wanted}"));
            }
        }
        Ok(())
    }
}
