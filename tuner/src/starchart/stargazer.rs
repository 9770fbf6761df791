//! The baseline of section 7.2: stepwise linear regression with splines and pairwise interactions (W. Jia, K. A. Shaw,
//! M. Martonosi, "Stargazer: Automated Regression-Based GPU Design Space Exploration", ISPASS 2012).
//!
//! A numeric parameter enters as a natural cubic spline, another one as an indicator for each level but the first.
//! Forward selection: in each step the parameter whose terms raise the adjusted R^2 most is added, as long as one does;
//! then each product with a parameter that is in the model already is kept if it raises it too. One model for the whole
//! space: that is what trees improve on.

use super::accuracy::{Learner, Predictor};
use super::linear::{LinearModel, ridge};
use super::request;
use super::table::{Column, ColumnKind, Table};
use crate::error::Result;
use serde::Serialize;

/// How a Stargazer model is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StargazerOptions {
    /// Knots of a spline at most: 3 give a line and one curved term.
    pub knots: usize,
    /// The adjusted R^2 must rise by more than this.
    pub least_rise: f64,
}

impl Default for StargazerOptions {
    fn default() -> StargazerOptions {
        StargazerOptions { knots: 4, least_rise: 1e-3 }
    }
}

/// A step of the selection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// A parameter, or a product of two: `x`, `x*y`.
    pub term: String,
    /// Adjusted R^2 with it.
    pub adjusted_r2: f64,
}

/// A linear model of the whole space.
#[derive(Debug, Clone)]
pub struct Stargazer {
    /// For each column, its basis functions by level.
    bases: Vec<Vec<Vec<f64>>>,
    groups: Vec<Group>,
    model: LinearModel,
    steps: Vec<Step>,
}

/// The terms of one parameter, or of the product of two.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Group(usize, Option<usize>);

impl Stargazer {
    /// What was added, in this order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl Predictor for Stargazer {
    fn predict(&self, table: &Table, row: usize) -> f64 {
        self.model.value(&terms(&self.bases, &self.groups, table, row))
    }
}

impl Learner for StargazerOptions {
    fn learn(&self, table: &Table, response: &[f64], rows: &[u32]) -> Result<Box<dyn Predictor>> {
        Ok(Box::new(stargazer(table, response, rows, self)?))
    }
}

/// Finds the model.
///
/// # Errors
/// Fewer than three rows, or a response that is not finite.
pub fn stargazer(
    table: &Table,
    response: &[f64],
    rows: &[u32],
    options: &StargazerOptions,
) -> Result<Stargazer> {
    if rows.len() < 3 || rows.iter().any(|&row| !response[row as usize].is_finite()) {
        return Err(request("a regression needs three successful trials at least", "measure more"));
    }
    let bases: Vec<Vec<Vec<f64>>> =
        table.columns().iter().map(|column| basis(column, rows, options.knots.max(2))).collect();
    let target: Vec<f64> = rows.iter().map(|&row| response[row as usize]).collect();
    let mut search = Stargazer {
        bases,
        groups: Vec::new(),
        model: LinearModel { intercept: 0.0, coefficients: Vec::new() },
        steps: Vec::new(),
    };
    let fit = |bases: &[Vec<Vec<f64>>], groups: &[Group]| fit(bases, groups, table, rows, &target);
    let mut score = 0.0;
    let mut free: Vec<usize> = (0..table.columns().len()).filter(|&k| !search.bases[k].is_empty()).collect();
    while !free.is_empty() {
        let with = |k: usize| [search.groups.as_slice(), &[Group(k, None)]].concat();
        let scored = free.iter().enumerate().map(|(at, &k)| (at, fit(&search.bases, &with(k)).1));
        let best = scored.reduce(|best, other| if other.1 > best.1 { other } else { best });
        let Some((at, reached)) = best.filter(|(_, reached)| *reached > score + options.least_rise) else {
            break;
        };
        let added = free.remove(at);
        let partners: Vec<usize> =
            search.groups.iter().filter(|group| group.1.is_none()).map(|group| group.0).collect();
        score = reached;
        search.groups.push(Group(added, None));
        search.steps.push(Step { term: table.columns()[added].name().to_owned(), adjusted_r2: score });
        for partner in partners {
            let groups = [search.groups.as_slice(), &[Group(partner, Some(added))]].concat();
            let (_, reached) = fit(&search.bases, &groups);
            if reached > score + options.least_rise {
                score = reached;
                search.groups = groups;
                let names = [partner, added].map(|k| table.columns()[k].name());
                search.steps.push(Step { term: names.join("*"), adjusted_r2: score });
            }
        }
    }
    search.model = fit(&search.bases, &search.groups).0;
    Ok(search)
}

/// Least squares and its adjusted R^2. A trace of a penalty keeps columns that depend on each other apart.
fn fit(
    bases: &[Vec<Vec<f64>>],
    groups: &[Group],
    table: &Table,
    rows: &[u32],
    target: &[f64],
) -> (LinearModel, f64) {
    let values: Vec<Vec<f64>> = rows.iter().map(|&row| terms(bases, groups, table, row as usize)).collect();
    let slices: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let model = ridge(&slices, target, 1e-6);
    let mean = target.iter().sum::<f64>() / target.len() as f64;
    let total: f64 = target.iter().map(|value| (value - mean).powi(2)).sum();
    let rest: f64 =
        values.iter().zip(target).map(|(terms, value)| (value - model.value(terms)).powi(2)).sum();
    let (designs, used) =
        (target.len() as f64, model.coefficients.iter().filter(|c| **c != 0.0).count() as f64);
    let free = designs - used - 1.0;
    // As many terms as designs explain everything and predict nothing.
    let adjusted = if free < 1.0 || total <= 0.0 {
        f64::NEG_INFINITY
    } else {
        1.0 - rest / free / (total / (designs - 1.0))
    };
    (model, adjusted)
}

fn terms(bases: &[Vec<Vec<f64>>], groups: &[Group], table: &Table, row: usize) -> Vec<f64> {
    let of = |k: usize| {
        let code = table.columns()[k].codes()[row] as usize;
        bases[k].iter().map(move |function| function[code])
    };
    let mut terms = Vec::new();
    for group in groups {
        match group {
            Group(k, None) => terms.extend(of(*k)),
            Group(k, Some(other)) => {
                of(*k).for_each(|left| terms.extend(of(*other).map(|right| left * right)))
            }
        }
    }
    terms
}

/// The basis functions of a column, by level; none if it has one level only.
fn basis(column: &Column, rows: &[u32], knots: usize) -> Vec<Vec<f64>> {
    let levels = column.levels();
    if levels.len() < 2 {
        return Vec::new();
    }
    if column.kind() != ColumnKind::Numeric {
        let one = |place: usize| (0..levels.len()).map(|other| f64::from(u8::from(other == place))).collect();
        return (1..levels.len()).map(one).collect();
    }
    let (low, high) = (levels[0], levels[levels.len() - 1]);
    let unit = |level: f64| (level - low) / (high - low);
    let mut values: Vec<f64> = rows.iter().map(|&row| unit(column.value(row as usize))).collect();
    values.sort_unstable_by(f64::total_cmp);
    let quantile = |at: usize| values[(values.len() - 1) * at / (knots - 1)];
    let mut places: Vec<f64> = (0..knots).map(quantile).collect();
    places.dedup();
    let mut functions = vec![levels.iter().map(|&level| unit(level)).collect()];
    functions.extend(
        natural_spline(&places).map(|function| levels.iter().map(|&level| function(unit(level))).collect()),
    );
    functions
}

/// The curved functions of the basis of natural cubic splines with these knots (T. Hastie, R. Tibshirani, J. Friedman,
/// "The Elements of Statistical Learning", eq. 5.4 and 5.5): `d_k - d_(K-1)`, with
/// `d_k(x) = ((x - t_k)_+^3 - (x - t_K)_+^3) / (t_K - t_k)`.
fn natural_spline(knots: &[f64]) -> impl Iterator<Item = impl Fn(f64) -> f64> {
    let cube = |x: f64| x.max(0.0).powi(3);
    let count = knots.len();
    (0..count.saturating_sub(2)).map(move |k| {
        let (first, before, last) = (knots[k], knots[count - 2], knots[count - 1]);
        move |x: f64| {
            let d = |knot: f64| (cube(x - knot) - cube(x - last)) / (last - knot);
            d(first) - d(before)
        }
    })
}
