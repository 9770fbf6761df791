//! The two methods, with a preconditioner.

use super::precondition::Preconditioner;
use super::{MOST_STEPS, TOLERANCE};
use crate::sparse::Csr;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Conjugate gradients: for symmetric matrices that are positive definite.
    Cg,
    /// H. van der Vorst, "Bi-CGSTAB", SIAM J. Sci. Stat. Comput. 13, 1992: for all others.
    BiCgStab,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The unknowns.
    pub x: Vec<f64>,
    /// Steps that it took.
    pub steps: usize,
}

/// Entries of a matrix that are not worth another thread.
const ALONE: usize = 50_000;

/// `y = A x`.
fn multiply(matrix: &Csr, parts: &[usize], x: &[f64], y: &mut [f64]) {
    match matrix.entries() <= ALONE {
        true => matrix.multiply_serial(x, y),
        false => matrix.multiply_parallel(parts, x, y),
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `y += factor * x`.
fn add(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

/// `y = x + factor * y`.
fn turn(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = x + factor * *y);
}

/// A number by which something is divided.
fn divisor(value: f64, what: &str) -> Result<f64, String> {
    match value.is_finite() && value != 0.0 {
        true => Ok(value),
        false => Err(format!("it broke down: {what} is {value}")),
    }
}

/// Solves a system, from zero on, until the residual is small.
///
/// # Errors
/// A method that breaks down or takes too many steps.
pub fn solve(
    matrix: &Csr,
    right: &[f64],
    method: Method,
    preconditioner: &Preconditioner,
) -> Result<Solution, String> {
    let target = TOLERANCE * dot(right, right).sqrt();
    if !target.is_finite() {
        return Err("the right-hand side is not finite".to_owned());
    }
    match method {
        Method::Cg => cg(matrix, right, target, preconditioner),
        Method::BiCgStab => bicgstab(matrix, right, target, preconditioner),
    }
}

fn cg(matrix: &Csr, right: &[f64], target: f64, inverse: &Preconditioner) -> Result<Solution, String> {
    let parts = matrix.parts(rayon::current_num_threads());
    let zeros = vec![0.0; right.len()];
    let (mut x, mut r, mut z, mut q) = (zeros.clone(), right.to_vec(), zeros.clone(), zeros);
    inverse.apply(&r, &mut z);
    let mut p = z.clone();
    let mut rho = dot(&r, &z);
    for steps in 0..MOST_STEPS {
        if dot(&r, &r).sqrt() <= target {
            return Ok(Solution { x, steps });
        }
        multiply(matrix, &parts, &p, &mut q);
        let curvature = divisor(dot(&p, &q), "the curvature")?;
        if curvature < 0.0 {
            return Err("it broke down: the matrix is not positive definite".to_owned());
        }
        let alpha = rho / curvature;
        add(&mut x, alpha, &p);
        add(&mut r, -alpha, &q);
        inverse.apply(&r, &mut z);
        let next = dot(&r, &z);
        turn(&mut p, next / divisor(rho, "rho")?, &z);
        rho = next;
    }
    Err(format!("it did not converge in {MOST_STEPS} steps"))
}

fn bicgstab(matrix: &Csr, right: &[f64], target: f64, inverse: &Preconditioner) -> Result<Solution, String> {
    let parts = matrix.parts(rayon::current_num_threads());
    let zeros = || vec![0.0; right.len()];
    let (mut x, mut r, mut p, mut v) = (zeros(), right.to_vec(), zeros(), zeros());
    let (mut turned, mut t) = (zeros(), zeros());
    let shadow = r.clone();
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    // A step has two products.
    for steps in 0..MOST_STEPS / 2 {
        if dot(&r, &r).sqrt() <= target {
            return Ok(Solution { x, steps });
        }
        let next = divisor(dot(&shadow, &r), "rho")?;
        let beta = next / rho * (alpha / divisor(omega, "omega")?);
        rho = next;
        // p = r + beta (p - omega v)
        add(&mut p, -omega, &v);
        turn(&mut p, beta, &r);
        inverse.apply(&p, &mut turned);
        multiply(matrix, &parts, &turned, &mut v);
        alpha = rho / divisor(dot(&shadow, &v), "the product with the shadow")?;
        add(&mut x, alpha, &turned);
        add(&mut r, -alpha, &v);
        if dot(&r, &r).sqrt() <= target {
            return Ok(Solution { x, steps });
        }
        inverse.apply(&r, &mut turned);
        multiply(matrix, &parts, &turned, &mut t);
        omega = dot(&t, &r) / divisor(dot(&t, &t), "the length of a step")?;
        add(&mut x, omega, &turned);
        add(&mut r, -omega, &t);
    }
    Err(format!("it did not converge in {} steps", MOST_STEPS / 2))
}
