//! D-optimal designs by exchange (V. V. Fedorov, Theory of Optimal Experiments, 1972): the runs of a design are
//! exchanged with candidates as long as that increases `det(X'X)`.
//!
//! Exchanging the row `x` for `y` multiplies the determinant by `1 + D(x, y)` with
//! `D = d(y) - d(x) - d(x) d(y) + d(x, y)^2`, where `d(x, y) = x' (X'X)^-1 y` and `d(x) = d(x, x)`. By
//! Cauchy-Schwarz `D <= d(y) - d(x)`, so only candidates with a larger `d` than the row can improve it.

use crate::error::{Result, TunerError};
use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand::seq::SliceRandom;

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct DesignRequest<'a> {
    /// Number of runs, forced ones included.
    pub runs: usize,
    /// Candidates that must be in the design, by their places.
    pub forced: &'a [usize],
    /// Candidates that must not be in it.
    pub forbidden: &'a [usize],
    /// Whether a candidate may be in it more than once.
    pub replicates: bool,
    /// Random starts, the best of which counts; 0 counts as 1.
    pub starts: usize,
}

/// A design.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Places of its candidates, the forced ones first.
    pub rows: Vec<usize>,
    /// D-efficiency `det(X'X / N)^(1/p)`, as R's AlgDesign reports it; 0 where the design is singular.
    pub d_efficiency: f64,
}

/// Exchanges in all, so that no input makes it hang.
const MOST_EXCHANGES: usize = 10_000;
/// Least gain of an exchange.
const LEAST_GAIN: f64 = 1e-9;

/// A D-optimal design for the rows of a matrix: one row per candidate, one column per coefficient.
///
/// # Errors
/// Fewer runs than coefficients, fewer candidates than runs, more forced ones than runs, and candidates that do not
/// identify all coefficients.
pub fn d_optimal(
    candidates: &DMatrix<f64>,
    request: &DesignRequest<'_>,
    rng: &mut impl Rng,
) -> Result<Design> {
    let (count, width) = candidates.shape();
    let refuse = |reason: String, hint: &str| Err(TunerError::Infeasible { reason, hint: hint.to_owned() });
    let mut usable = vec![true; count];
    request.forbidden.iter().filter(|&&place| place < count).for_each(|&place| usable[place] = false);
    if let Some(wrong) = request.forced.iter().find(|&&place| place >= count || !usable[place]) {
        return refuse(format!("the forced point {wrong} is no candidate, or forbidden"), "");
    }
    if request.runs < width {
        let reason = format!("a design of {} runs cannot identify {width} coefficients", request.runs);
        return refuse(reason, "allow more runs, or leave terms out of the model");
    }
    if request.forced.len() > request.runs {
        return refuse(format!("{} forced points in a design of {}", request.forced.len(), request.runs), "");
    }
    let distinct = usable.iter().filter(|&&usable| usable).count();
    if !request.replicates && distinct < request.runs {
        return refuse(
            format!("{distinct} candidates for a design of {} runs", request.runs),
            "ask for fewer runs",
        );
    }
    let scaled = orthonormal(candidates).ok_or_else(|| TunerError::Infeasible {
        reason: "the candidates do not identify all coefficients of the model".to_owned(),
        hint: "leave out terms that others determine, or add levels".to_owned(),
    })?;
    let mut best: Option<(f64, Vec<usize>)> = None;
    for _ in 0..request.starts.max(1) {
        let mut exchange = Exchange::start(&scaled, request, &usable, rng)?;
        exchange.improve(request, &usable);
        let determinant = exchange.log_determinant();
        if best.as_ref().is_none_or(|(most, _)| determinant > *most) {
            best = Some((determinant, exchange.rows));
        }
    }
    let rows = best.map(|(_, rows)| rows).unwrap_or_default();
    let d_efficiency = d_efficiency(candidates, &rows);
    Ok(Design { rows, d_efficiency })
}

/// `det(X'X / N)^(1/p)` of some rows.
pub fn d_efficiency(candidates: &DMatrix<f64>, rows: &[usize]) -> f64 {
    let chosen = candidates.select_rows(rows.iter());
    let (runs, width) = chosen.shape();
    if runs < width || width == 0 {
        return 0.0;
    }
    // |det R| of the QR decomposition is the root of det(X'X).
    let upper = chosen.qr().r();
    let logarithm: f64 = upper.diagonal().iter().map(|value| 2.0 * value.abs().max(1e-300).ln()).sum();
    (logarithm / width as f64 - (runs as f64).ln()).exp()
}

/// The candidates in coordinates in which `X'X` over all of them is the identity: the same designs are optimal, and
/// nothing depends on units. The rows are the columns of the result. `None` where columns depend on each other.
fn orthonormal(candidates: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let (count, width) = candidates.shape();
    let mut columns: Vec<DVector<f64>> = Vec::with_capacity(width);
    for column in 0..width {
        let mut rest = candidates.column(column).into_owned();
        let length = rest.norm();
        for _ in 0..2 {
            for direction in &columns {
                let along = direction.dot(&rest);
                rest.axpy(-along, direction, 1.0);
            }
        }
        let left = rest.norm();
        if left <= 1e-9 * length || !left.is_finite() {
            return None;
        }
        columns.push(rest / left);
    }
    let scale = (count as f64).sqrt();
    Some(DMatrix::from_fn(width, count, |row, column| columns[row][column] * scale))
}

struct Exchange<'a> {
    /// One column per candidate.
    candidates: &'a DMatrix<f64>,
    rows: Vec<usize>,
    /// How often each candidate is in the design.
    uses: Vec<u32>,
    /// `(X'X)^-1` of the design.
    inverse: DMatrix<f64>,
    /// `d` of every candidate.
    variance: Vec<f64>,
}

impl<'a> Exchange<'a> {
    /// The forced points, and random ones; each of the first is the one of a few that adds most to what is spanned.
    fn start(
        candidates: &'a DMatrix<f64>,
        request: &DesignRequest<'_>,
        usable: &[bool],
        rng: &mut impl Rng,
    ) -> Result<Exchange<'a>> {
        let (width, count) = candidates.shape();
        let mut uses = vec![0; count];
        let mut rows = request.forced.to_vec();
        rows.iter().for_each(|&row| uses[row] += 1);
        let mut order: Vec<usize> = (0..count).filter(|&place| usable[place]).collect();
        order.shuffle(rng);
        // A small ridge lets the determinant grow from nothing.
        let mut information = DMatrix::identity(width, width) * 1e-6;
        for &row in &rows {
            add(&mut information, candidates.column(row).as_slice());
        }
        let mut inverse = inverted(information)?;
        let mut next = order.iter().copied().cycle();
        while rows.len() < request.runs {
            const AMONG: usize = 8;
            let free = |place: &usize| request.replicates || uses[*place] == 0;
            let some: Vec<usize> = next.by_ref().take(4 * order.len()).filter(free).take(AMONG).collect();
            let gain = |place: &usize| quadratic(&inverse, candidates.column(*place).as_slice());
            let best = some.into_iter().map(|place| (gain(&place), place)).max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((d, place)) = best else { break };
            // Sherman-Morrison.
            let column = candidates.column(place);
            let direction = &inverse * column;
            inverse -= &direction * direction.transpose() / (1.0 + d);
            uses[place] += 1;
            rows.push(place);
        }
        let mut exchange = Exchange { candidates, rows, uses, inverse, variance: vec![0.0; count] };
        exchange.refresh(1e-9)?;
        Ok(exchange)
    }

    /// The inverse and the variances anew.
    fn refresh(&mut self, ridge: f64) -> Result<()> {
        let width = self.candidates.nrows();
        let mut information = DMatrix::identity(width, width) * ridge;
        for &row in &self.rows {
            add(&mut information, self.candidates.column(row).as_slice());
        }
        self.inverse = inverted(information)?;
        for (place, variance) in self.variance.iter_mut().enumerate() {
            *variance = quadratic(&self.inverse, self.candidates.column(place).as_slice());
        }
        Ok(())
    }

    /// Exchanges the best pair of each row in turn, until no row can be improved.
    fn improve(&mut self, request: &DesignRequest<'_>, usable: &[bool]) {
        let forced = request.forced.len();
        let mut exchanges = 0;
        loop {
            let mut improved = false;
            for number in forced..self.rows.len() {
                let Some(candidate) = self.best_for(number, request, usable) else { continue };
                improved = true;
                exchanges += 1;
                self.exchange(number, candidate);
            }
            if !improved || exchanges > MOST_EXCHANGES {
                return;
            }
            // Against rounding.
            if self.refresh(1e-9).is_err() {
                return;
            }
        }
    }

    /// The candidate that improves the design most in place of a row.
    fn best_for(&self, number: usize, request: &DesignRequest<'_>, usable: &[bool]) -> Option<usize> {
        let row = self.rows[number];
        let own = self.variance[row];
        let direction = &self.inverse * self.candidates.column(row);
        let mut best = (LEAST_GAIN, None);
        for (place, &variance) in self.variance.iter().enumerate() {
            if variance - own <= best.0 || !usable[place] || (!request.replicates && self.uses[place] > 0) {
                continue;
            }
            let column = self.candidates.column(place);
            let cross: f64 = dot(column.as_slice(), direction.as_slice());
            let gain = variance - own - own * variance + cross * cross;
            if gain > best.0 {
                best = (gain, Some(place));
            }
        }
        best.1
    }

    /// Exchanges a row and brings inverse and variances up to date: one row less and one more, each of rank one.
    fn exchange(&mut self, number: usize, candidate: usize) {
        let old = self.rows[number];
        self.uses[old] -= 1;
        self.uses[candidate] += 1;
        self.rows[number] = candidate;
        for (place, sign) in [(candidate, 1.0), (old, -1.0)] {
            let column = self.candidates.column(place);
            let direction = &self.inverse * column;
            let scale = sign / (1.0 + sign * column.dot(&direction));
            self.inverse -= &direction * direction.transpose() * scale;
            for (other, variance) in self.variance.iter_mut().enumerate() {
                let along = dot(self.candidates.column(other).as_slice(), direction.as_slice());
                *variance -= scale * along * along;
            }
        }
    }

    fn log_determinant(&self) -> f64 {
        self.inverse.clone().cholesky().map_or(f64::NEG_INFINITY, |factor| {
            -2.0 * factor.l_dirty().diagonal().iter().map(|value| value.ln()).sum::<f64>()
        })
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn add(information: &mut DMatrix<f64>, row: &[f64]) {
    for (i, left) in row.iter().enumerate() {
        for (j, right) in row.iter().enumerate() {
            information[(i, j)] += left * right;
        }
    }
}

/// `x' A x`.
fn quadratic(matrix: &DMatrix<f64>, row: &[f64]) -> f64 {
    matrix.column_iter().zip(row).map(|(column, value)| value * dot(column.as_slice(), row)).sum()
}

fn inverted(information: DMatrix<f64>) -> Result<DMatrix<f64>> {
    information.cholesky().map(|factor| factor.inverse()).ok_or_else(|| TunerError::Infeasible {
        reason: "the design is singular".to_owned(),
        hint: "leave terms out of the model".to_owned(),
    })
}
