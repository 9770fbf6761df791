//! A formula over a space: the row of the design matrix for every point.

use super::formula::{Atom, Formula, Term};
use crate::error::{Result, TunerError};
use crate::expression::Expression;
use crate::space::{Point, Space};
use nalgebra::DMatrix;
use trials::ParameterKind;
use trials::Value;

/// How the levels of a categorical parameter become columns; `k` levels become `k - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contrasts {
    /// Each level against the first (R's `contr.treatment`).
    #[default]
    Treatment,
    /// Each level but the last against the mean of all (R's `contr.sum`).
    Sum,
}

/// A formula, compiled for a space.
#[derive(Debug, Clone)]
pub struct Model {
    formula: Formula,
    /// Columns of each term, as products of columns of its atoms.
    terms: Vec<Vec<Column>>,
    names: Vec<String>,
    /// The term of each column; `None` is the intercept.
    term_of: Vec<Option<usize>>,
}

/// The atoms of a column.
type Column = Vec<AtomColumn>;

#[derive(Debug, Clone)]
enum AtomColumn {
    /// A value for each level of a parameter.
    Table { place: usize, values: Vec<f64> },
    /// Arithmetic over several parameters.
    Computed(Expression),
}

impl Model {
    /// Compiles a formula.
    ///
    /// # Errors
    /// Arithmetic with categorical parameters, and terms that have no finite value at some level.
    pub fn new(formula: &Formula, space: &Space, contrasts: Contrasts) -> Result<Model> {
        let mut model =
            Model { formula: formula.clone(), terms: Vec::new(), names: Vec::new(), term_of: Vec::new() };
        if formula.intercept {
            model.names.push("(Intercept)".to_owned());
            model.term_of.push(None);
        }
        for (number, term) in formula.terms.iter().enumerate() {
            let mut columns: Vec<(Column, String)> = vec![(Vec::new(), String::new())];
            for atom in term {
                let mut next = Vec::new();
                for (column, name) in columns {
                    for (atom_column, atom_name) in columns_of(atom, formula, space, contrasts)? {
                        let joined = if name.is_empty() { atom_name } else { format!("{name}:{atom_name}") };
                        next.push((column.iter().cloned().chain([atom_column]).collect(), joined));
                    }
                }
                columns = next;
            }
            model.names.extend(columns.iter().map(|(_, name)| name.clone()));
            model.term_of.extend(columns.iter().map(|_| Some(number)));
            model.terms.push(columns.into_iter().map(|(column, _)| column).collect());
        }
        Ok(model)
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// Number of columns, the intercept included.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The term of each column, by its place in the formula; `None` is the intercept.
    pub fn term_of(&self) -> &[Option<usize>] {
        &self.term_of
    }

    /// Places of the parameters of a term.
    pub fn parameters_of(&self, term: usize) -> Vec<usize> {
        let mut places = Vec::new();
        for atom in self.terms[term].iter().flatten() {
            match atom {
                AtomColumn::Table { place, .. } => places.push(*place),
                AtomColumn::Computed(expression) => places.extend_from_slice(expression.parameters()),
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The row of a point. A term of several parameters that has no value there is not a number.
    pub fn row(&self, space: &Space, point: &Point) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.width());
        if self.formula.intercept {
            row.push(1.0);
        }
        for column in self.terms.iter().flatten() {
            let value = column.iter().map(|atom| match atom {
                AtomColumn::Table { place, values } => values[point.levels()[*place] as usize],
                AtomColumn::Computed(expression) => expression
                    .value(&|place| space.value(point, place))
                    .ok()
                    .and_then(|value| value.number())
                    .unwrap_or(f64::NAN),
            });
            row.push(value.product());
        }
        row
    }

    /// The design matrix of some points, one row each.
    ///
    /// # Errors
    /// A term without a finite value at one of them.
    pub fn matrix(&self, space: &Space, points: &[Point]) -> Result<DMatrix<f64>> {
        let mut matrix = DMatrix::zeros(points.len(), self.width());
        for (number, point) in points.iter().enumerate() {
            for (column, value) in self.row(space, point).into_iter().enumerate() {
                if !value.is_finite() {
                    return Err(no_value(&self.names[column], &space.text(point)));
                }
                matrix[(number, column)] = value;
            }
        }
        Ok(matrix)
    }
}

fn no_value(term: &str, at: &str) -> TunerError {
    TunerError::Request {
        reason: format!("the term `{term}` of the model has no finite value at {at}"),
        hint: "leave the term out, or shift it, as in I(1/(x+1))".to_owned(),
    }
}

/// The columns of an atom and their names.
fn columns_of(
    atom: &Atom,
    formula: &Formula,
    space: &Space,
    contrasts: Contrasts,
) -> Result<Vec<(AtomColumn, String)>> {
    let name = formula.term_name(&Term::from([atom.clone()]));
    match atom {
        Atom::Parameter(place) => {
            let parameter = &space.parameters()[*place];
            let place = *place;
            if parameter.kind() != ParameterKind::Categorical {
                let values = (0..parameter.len()).map(|level| parameter.number(level)).collect();
                return Ok(vec![(AtomColumn::Table { place, values }, name)]);
            }
            let count = parameter.len();
            let column = |own: usize| match contrasts {
                Contrasts::Treatment => {
                    let values = (0..count).map(|level| f64::from(u8::from(level == own + 1))).collect();
                    (AtomColumn::Table { place, values }, format!("{name}{}", parameter.level(own + 1)))
                }
                Contrasts::Sum => {
                    let value = |level: usize| {
                        if level == count - 1 { -1.0 } else { f64::from(u8::from(level == own)) }
                    };
                    let values = (0..count).map(value).collect();
                    (AtomColumn::Table { place, values }, format!("{name}{}", own + 1))
                }
            };
            Ok((0..count.saturating_sub(1)).map(column).collect())
        }
        Atom::Arithmetic { expression, .. } => {
            let names: Vec<&str> = space.parameters().iter().map(|parameter| parameter.name()).collect();
            let expression = Expression::parse(expression, &names)?;
            if let Some(&text) = expression
                .parameters()
                .iter()
                .find(|&&place| space.parameters()[place].kind() == ParameterKind::Categorical)
            {
                return Err(TunerError::Request {
                    reason: format!("`{name}` computes with the categorical parameter `{}`", names[text]),
                    hint: "a categorical parameter can only be a term by itself or in an interaction"
                        .to_owned(),
                });
            }
            let &[place] = expression.parameters() else {
                return Ok(vec![(AtomColumn::Computed(expression), name)]);
            };
            let mut values = Vec::new();
            for level in space.parameters()[place].levels() {
                let value = expression.value(&|_| level).ok().and_then(|value: Value| value.number());
                match value.filter(|value| value.is_finite()) {
                    Some(value) => values.push(value),
                    None => return Err(no_value(&name, &format!("{}={level}", names[place]))),
                }
            }
            Ok(vec![(AtomColumn::Table { place, values }, name)])
        }
    }
}
