//! The two methods, with a preconditioner.

use super::precondition::{ALONE, Preconditioner};
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

/// `y = A x`.
fn multiply(matrix: &Csr, parts: &[usize], x: &[f64], y: &mut [f64]) {
    match matrix.entries() <= ALONE {
        true => matrix.multiply_serial(x, y),
        false => matrix.multiply_parallel(parts, x, y),
    }
}

/// Sums that do not wait for each other.
const LANES: usize = 8;

/// The sum of what `term` makes of each place.
#[inline(always)]
fn sum(a: &[f64], b: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (groups, others) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = groups.remainder().iter().zip(others.remainder()).fold(0.0, |sum, (a, b)| sum + term(*a, *b));
    for (a, b) in groups.zip(others) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane], b[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum(a, b, |a, b| a * b)
}

/// `y += factor * x`.
fn add(y: &mut [f64], factor: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

/// The same; the squares of `y` afterwards.
fn add_squared(y: &mut [f64], factor: f64, x: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (mut groups, others) = (y.chunks_exact_mut(LANES), x.chunks_exact(LANES));
    let left = others.remainder();
    for (y, x) in groups.by_ref().zip(others) {
        for lane in 0..LANES {
            y[lane] += factor * x[lane];
            sums[lane] += y[lane] * y[lane];
        }
    }
    let rest = groups.into_remainder().iter_mut().zip(left).fold(0.0, |sum, (y, x)| {
        *y += factor * x;
        sum + *y * *y
    });
    sums.iter().sum::<f64>() + rest
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
    let (mut x, mut r, mut z, mut q) = (zeros.clone(), right.to_vec(), zeros.clone(), zeros.clone());
    let mut room = zeros;
    inverse.apply(&r, &mut z, &mut room);
    let mut p = z.clone();
    let (mut rho, mut size) = (dot(&r, &z), dot(&r, &r));
    for steps in 0..MOST_STEPS {
        if size.sqrt() <= target {
            return Ok(Solution { x, steps });
        }
        multiply(matrix, &parts, &p, &mut q);
        let curvature = divisor(dot(&p, &q), "the curvature")?;
        if curvature < 0.0 {
            return Err("it broke down: the matrix is not positive definite".to_owned());
        }
        let alpha = rho / curvature;
        add(&mut x, alpha, &p);
        size = add_squared(&mut r, -alpha, &q);
        inverse.apply(&r, &mut z, &mut room);
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
    let (mut turned, mut t, mut room) = (zeros(), zeros(), zeros());
    let shadow = r.clone();
    let mut size = dot(&r, &r);
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    // A step has two products.
    for steps in 0..MOST_STEPS / 2 {
        if size.sqrt() <= target {
            return Ok(Solution { x, steps });
        }
        let next = divisor(dot(&shadow, &r), "rho")?;
        let beta = next / rho * (alpha / divisor(omega, "omega")?);
        rho = next;
        // p = r + beta (p - omega v)
        p.iter_mut().zip(&v).zip(&r).for_each(|((p, v), r)| *p = r + beta * (*p - omega * v));
        inverse.apply(&p, &mut turned, &mut room);
        multiply(matrix, &parts, &turned, &mut v);
        alpha = rho / divisor(dot(&shadow, &v), "the product with the shadow")?;
        add(&mut x, alpha, &turned);
        if add_squared(&mut r, -alpha, &v).sqrt() <= target {
            return Ok(Solution { x, steps });
        }
        inverse.apply(&r, &mut turned, &mut room);
        multiply(matrix, &parts, &turned, &mut t);
        omega = dot(&t, &r) / divisor(dot(&t, &t), "the length of a step")?;
        add(&mut x, omega, &turned);
        size = add_squared(&mut r, -omega, &t);
    }
    Err(format!("it did not converge in {} steps", MOST_STEPS / 2))
}
