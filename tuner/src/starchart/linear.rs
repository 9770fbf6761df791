//! Linear models over the parameters: features, and ridge regression.

use super::table::{Column, ColumnKind, Table};
use nalgebra::{DMatrix, DVector};

/// Categorical columns with more levels take no part in interactions.
const MOST_INTERACTING_LEVELS: usize = 6;

/// Which terms a linear model has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Terms {
    /// One for each parameter.
    Linear,
    /// Also squares, and products of two parameters.
    Quadratic,
    /// Also products with and of squares.
    Biquadratic,
}

impl Terms {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Terms::Linear => "linear",
            Terms::Quadratic => "quadratic",
            Terms::Biquadratic => "biquadratic",
        }
    }
}

/// What a numeric parameter enters as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// Its logarithm where all its levels are positive.
    Logarithmic,
    /// Itself.
    Linear,
}

/// A variable of a linear model: a function of one column, given by its value at every level, between -1 and 1.
#[derive(Debug, Clone, PartialEq)]
struct Variable {
    column: usize,
    name: String,
    values: Vec<f64>,
}

/// A term: the product of one to four variables.
#[derive(Debug, Clone, PartialEq)]
struct Term(Vec<usize>);

/// The terms of a linear model over a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    variables: Vec<Variable>,
    terms: Vec<Term>,
}

impl Features {
    /// The terms over the columns that vary among some rows: products with a constant would be copies of other terms.
    pub fn new(table: &Table, rows: &[u32], terms: Terms, scale: Scale) -> Features {
        let mut variables = Vec::new();
        // For each column the places of its variables, and whether they have squares.
        let mut groups: Vec<(Vec<usize>, bool)> = Vec::new();
        for (k, column) in table.columns().iter().enumerate() {
            let mut codes = rows.iter().map(|&row| column.codes()[row as usize]);
            let first = codes.next();
            let varies = codes.any(|code| Some(code) != first);
            let made = if varies { column_variables(k, column, scale) } else { Vec::new() };
            let squares = column.kind() == ColumnKind::Numeric
                && column.levels().len() > 2
                && column.alignment_of().is_none();
            groups.push(((variables.len()..variables.len() + made.len()).collect(), squares));
            variables.extend(made);
        }
        let mut list: Vec<Term> = Vec::new();
        for (places, squares) in &groups {
            list.extend(places.iter().map(|&place| Term(vec![place])));
            if *squares && terms != Terms::Linear {
                list.extend(places.iter().map(|&place| Term(vec![place, place])));
            }
        }
        if terms != Terms::Linear {
            for (at, first) in groups.iter().enumerate() {
                for second in &groups[at + 1..] {
                    list.extend(products(first, second, terms));
                }
            }
        }
        Features { variables, terms: list }
    }

    /// The values of all terms for a row.
    pub fn of(&self, table: &Table, row: usize) -> Vec<f64> {
        let value = |&place: &usize| {
            let variable = &self.variables[place];
            variable.values[table.columns()[variable.column].codes()[row] as usize]
        };
        self.terms.iter().map(|term| term.0.iter().map(value).product()).collect()
    }

    /// The name of a term, such as `log2(x)*use_shmem`.
    pub fn name(&self, term: usize) -> String {
        let names: Vec<&str> =
            self.terms[term].0.iter().map(|&place| self.variables[place].name.as_str()).collect();
        names.join("*")
    }
}

/// Products of the variables of two columns, without and with their squares.
fn products(first: &(Vec<usize>, bool), second: &(Vec<usize>, bool), terms: Terms) -> Vec<Term> {
    let most = MOST_INTERACTING_LEVELS;
    if first.0.len() > most || second.0.len() > most {
        return Vec::new();
    }
    let powers = |(places, squares): &(Vec<usize>, bool)| -> Vec<Vec<usize>> {
        let squared = places.iter().map(|&place| vec![place, place]);
        let with_squares = terms == Terms::Biquadratic && *squares;
        places.iter().map(|&place| vec![place]).chain(squared.filter(|_| with_squares)).collect()
    };
    let seconds = powers(second);
    let pairs = powers(first).into_iter().flat_map(|left| {
        seconds.iter().map(move |right| Term(left.iter().chain(right).copied().collect())).collect::<Vec<_>>()
    });
    pairs.collect()
}

fn column_variables(k: usize, column: &Column, scale: Scale) -> Vec<Variable> {
    let levels = column.levels();
    if levels.len() < 2 {
        return Vec::new();
    }
    if !column.is_ordered() {
        let one = |place: usize| Variable {
            column: k,
            name: format!("[{} == {}]", column.name(), column.label(place as u32)),
            values: (0..levels.len()).map(|other| if other == place { 0.5 } else { -0.5 }).collect(),
        };
        return (0..levels.len()).map(one).collect();
    }
    let two = levels.len() == 2;
    let logarithmic =
        !two && levels[0] > 0.0 && (scale == Scale::Logarithmic || column.alignment_of().is_some());
    let of = |level: f64| if logarithmic { level.log2() } else { level };
    let (low, high) = (of(levels[0]), of(levels[levels.len() - 1]));
    let unit = if two { 1.0 } else { 2.0 };
    let values = levels.iter().map(|&level| unit * (of(level) - low) / (high - low) - unit / 2.0).collect();
    let name = if logarithmic { format!("log2({})", column.name()) } else { column.name().to_owned() };
    vec![Variable { column: k, name, values }]
}

/// A linear model: `intercept + sum of coefficient * term`.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// Value where all terms are zero.
    pub intercept: f64,
    /// One for each term.
    pub coefficients: Vec<f64>,
}

impl LinearModel {
    /// The value for the terms of a row.
    pub fn value(&self, terms: &[f64]) -> f64 {
        self.intercept
            + self.coefficients.iter().zip(terms).map(|(coefficient, term)| coefficient * term).sum::<f64>()
    }
}

/// Ridge regression of `response` on the rows of `terms`: least squares with `penalty` times the sum of the squared
/// coefficients of the terms scaled to unit variance. Terms that do not vary get no coefficient.
pub fn ridge(terms: &[&[f64]], response: &[f64], penalty: f64) -> LinearModel {
    let (rows, count) = (terms.len(), terms.first().map_or(0, |row| row.len()));
    let mean = response.iter().sum::<f64>() / rows.max(1) as f64;
    let mut centre = vec![0.0; count];
    terms.iter().for_each(|row| row.iter().zip(&mut centre).for_each(|(value, sum)| *sum += value));
    centre.iter_mut().for_each(|sum| *sum /= rows.max(1) as f64);
    let mut deviation = vec![0.0; count];
    for row in terms {
        row.iter()
            .zip(&centre)
            .zip(&mut deviation)
            .for_each(|((value, mean), sum)| *sum += (value - mean).powi(2));
    }
    let used: Vec<usize> = (0..count).filter(|&k| deviation[k] > 1e-18 * rows as f64).collect();
    let deviation: Vec<f64> = deviation.iter().map(|sum| (sum / rows.max(1) as f64).sqrt()).collect();
    let mut coefficients = vec![0.0; count];
    let scaled = DMatrix::from_fn(rows, used.len(), |row, k| {
        (terms[row][used[k]] - centre[used[k]]) / deviation[used[k]]
    });
    let target = DVector::from_iterator(rows, response.iter().map(|value| value - mean));
    let mut gram = scaled.tr_mul(&scaled);
    (0..used.len()).for_each(|k| gram[(k, k)] += penalty.max(1e-9));
    if let Some(factor) = gram.cholesky() {
        let solution = factor.solve(&scaled.tr_mul(&target));
        used.iter().enumerate().for_each(|(at, &k)| coefficients[k] = solution[at] / deviation[k]);
    }
    let offset: f64 =
        coefficients.iter().zip(&centre).map(|(coefficient, centre)| coefficient * centre).sum();
    LinearModel { intercept: mean - offset, coefficients }
}
