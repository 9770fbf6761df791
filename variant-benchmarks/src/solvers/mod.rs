//! Linear systems: conjugate gradients and BiCGStab, each with three preconditioners. On some systems some of them fail.
//!
//! Y. Saad, "Iterative methods for sparse linear systems", 2nd edition, SIAM 2003.

pub mod features;
pub mod generate;
mod krylov;
mod precondition;

pub use krylov::{Method, Solution, solve};
pub use precondition::{Kind as Preconditioning, Preconditioner};

use crate::benchmark::{Benchmark, Input, Inputs, Ran, Spent, in_turn, timed};
use crate::random::{Random, size};
use crate::sparse::Csr;
use adaptive::{Builder, Context};
use features::Summary;
use generate::Kind;
use rand::Rng;
use std::sync::{Arc, OnceLock};

/// The residual that is asked for, relative to the right-hand side.
pub const TOLERANCE: f64 = 1e-8;
/// Steps after which a solver has failed.
pub const MOST_STEPS: usize = 1000;

/// A system to be solved.
pub struct Solving {
    matrix: Arc<Csr>,
    right: Arc<Vec<f64>>,
    /// What was found; empty before.
    pub x: Vec<f64>,
    /// Features, once one of them was asked for.
    summary: OnceLock<Summary>,
}

impl Solving {
    /// A matrix and a right-hand side.
    ///
    /// # Errors
    /// A matrix that is not square; a right-hand side of another length.
    pub fn new(matrix: Arc<Csr>, right: Vec<f64>) -> Result<Solving, String> {
        if matrix.rows() != matrix.columns() || right.len() != matrix.rows() {
            let shape = format!("{} x {}", matrix.rows(), matrix.columns());
            return Err(format!("{} numbers, and a matrix of {shape}", right.len()));
        }
        Ok(Solving { matrix, right: Arc::new(right), x: Vec::new(), summary: OnceLock::new() })
    }

    /// The matrix.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// The right-hand side.
    pub fn right(&self) -> &[f64] {
        &self.right
    }

    /// The same system, not yet solved.
    pub fn again(&self) -> Solving {
        let (matrix, right) = (Arc::clone(&self.matrix), Arc::clone(&self.right));
        Solving { matrix, right, x: Vec::new(), summary: OnceLock::new() }
    }

    fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| Summary::of(&self.matrix))
    }

    fn by(&mut self, method: Method, kind: Preconditioning) -> Ran {
        let (preconditioner, once) = timed(|| Preconditioner::new(kind, &self.matrix));
        let preconditioner = preconditioner?;
        let (solution, each) = timed(|| solve(&self.matrix, &self.right, method, &preconditioner));
        self.x = solution?.x;
        Ok(Spent { once, each })
    }
}

/// The benchmark.
pub struct Solvers;

impl Benchmark for Solvers {
    type Argument = Solving;
    const NAME: &'static str = "solvers";
    const UNSEEN: &'static str = "scaled";
    const COUNTS: [usize; 2] = [26, 100];
    const LARGEST: usize = 400_000;
    const CALLS: f64 = 1.0;

    fn function() -> Builder<Solving, Ran> {
        let mut builder = Builder::new(&Context::default(), Self::NAME);
        for (method, name) in [(Method::BiCgStab, "bicgstab"), (Method::Cg, "cg")] {
            for (kind, with) in [
                (Preconditioning::Jacobi, "jacobi"),
                (Preconditioning::BlockJacobi, "bjacobi"),
                (Preconditioning::ApproximateInverse, "fainv"),
            ] {
                builder =
                    builder.variant(&format!("{name}-{with}"), move |own: &mut Solving| own.by(method, kind));
            }
        }
        builder
            .feature("log_entries", |own| (own.matrix.entries() as f64 + 1.0).ln())
            .feature("log_rows", |own| (own.matrix.rows() as f64 + 1.0).ln())
            .feature("trace", |own| features::logarithm(own.summary().trace))
            .feature("diagonal_mean", |own| features::logarithm(own.summary().diagonal_mean))
            .feature("diagonal_variance", |own| features::logarithm(own.summary().diagonal_variance))
            .feature("diagonal_dominance", |own| own.summary().dominance)
            .feature("left_bandwidth", |own| (own.summary().left_bandwidth as f64 + 1.0).ln())
            .feature("norm_1", |own| features::logarithm(own.summary().norm_1))
            .feature("asymmetry", |own| own.summary().asymmetry)
    }

    fn inputs(inputs: &Inputs) -> Vec<Input<Solving>> {
        let make = |kind: Kind, inputs: &Inputs, random: &mut Random| {
            let entries = size(random, 1000.min(inputs.largest), inputs.largest);
            let matrix = Arc::new(kind.matrix(entries, random));
            let right = (0..matrix.rows()).map(|_| random.random_range(-1.0..1.0)).collect();
            Solving { matrix, right: Arc::new(right), x: Vec::new(), summary: OnceLock::new() }
        };
        in_turn(inputs, &Kind::ALL, Self::UNSEEN, make, Solving::again)
    }

    /// The residual itself is small, not only what the solver took for it.
    fn check(own: &Solving) -> Result<(), String> {
        if own.x.len() != own.matrix.rows() {
            return Err(format!("{} unknowns of {}", own.x.len(), own.matrix.rows()));
        }
        let residual = (0..own.right.len()).map(|row| own.right[row] - own.matrix.dot(row, &own.x));
        let norm = residual.map(|value| value * value).sum::<f64>().sqrt();
        let whole = own.right.iter().map(|value| value * value).sum::<f64>().sqrt();
        // What was computed step by step may drift from what it stands for.
        match norm <= 100.0 * TOLERANCE * whole {
            true => Ok(()),
            false => Err(format!("a residual of {norm:e}, of {whole:e}")),
        }
    }
}
