//! Data tables: one column for each parameter, one row for each measured design.

use super::request;
use crate::error::Result;
use crate::space::Point;
use trials::Value;
use trials::{Parameter, ParameterKind};

/// What the values of a column are, which decides how it is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers: split by `value <= v`.
    Numeric,
    /// Two values, off and on: split in two.
    Boolean,
    /// Names without an order: split by subsets.
    Categorical,
}

/// The values of one parameter, as places in its list of levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    kind: ColumnKind,
    levels: Vec<f64>,
    labels: Vec<String>,
    codes: Vec<u32>,
    alignment_of: Option<String>,
}

impl Column {
    /// A numeric column; its levels `V_k` are the values that occur.
    ///
    /// # Errors
    /// A value that is not finite.
    pub fn numeric(name: impl Into<String>, values: &[f64]) -> Result<Column> {
        let name = name.into();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(request(
                format!("a value of the parameter `{name}` is not finite"),
                "remove that row, or give the parameter a number there",
            ));
        }
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
        let mut levels: Vec<f64> = Vec::new();
        let mut codes = vec![0; values.len()];
        for &row in &order {
            let value = values[row as usize];
            if levels.last().is_none_or(|&last| last != value) {
                levels.push(value);
            }
            codes[row as usize] = levels.len() as u32 - 1;
        }
        let labels = levels.iter().map(|&level| number(level)).collect();
        Ok(Column { name, kind: ColumnKind::Numeric, levels, labels, codes, alignment_of: None })
    }

    /// A numeric column with known levels `V_k`, ascending; `codes` are places in it.
    ///
    /// # Errors
    /// Levels that do not ascend, or a code without a level.
    pub fn ordered(
        name: impl Into<String>,
        kind: ColumnKind,
        levels: Vec<f64>,
        labels: Vec<String>,
        codes: Vec<u32>,
    ) -> Result<Column> {
        let name = name.into();
        let ascending = levels.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending
            || labels.len() != levels.len()
            || codes.iter().any(|&code| code as usize >= levels.len())
        {
            return Err(request(
                format!("the levels of the parameter `{name}` do not ascend, or do not contain its values"),
                "list each level once, the least first",
            ));
        }
        Ok(Column { name, kind, levels, labels, codes, alignment_of: None })
    }

    /// A boolean column.
    pub fn boolean(name: impl Into<String>, values: &[bool]) -> Column {
        Column {
            name: name.into(),
            kind: ColumnKind::Boolean,
            levels: vec![0.0, 1.0],
            labels: vec!["false".to_owned(), "true".to_owned()],
            codes: values.iter().map(|&value| u32::from(value)).collect(),
            alignment_of: None,
        }
    }

    /// A categorical column: the names of its levels, and for each row the place of its name.
    ///
    /// # Errors
    /// A code without a name.
    pub fn categorical(name: impl Into<String>, labels: Vec<String>, codes: Vec<u32>) -> Result<Column> {
        let name = name.into();
        if codes.iter().any(|&code| code as usize >= labels.len()) {
            return Err(request(
                format!("the parameter `{name}` has a value that is none of its levels"),
                "add the level",
            ));
        }
        let levels = (0..labels.len()).map(|place| place as f64).collect();
        Ok(Column { name, kind: ColumnKind::Categorical, levels, labels, codes, alignment_of: None })
    }

    /// The column of a parameter of a space; `codes` are places of its levels.
    ///
    /// # Errors
    /// A code without a level.
    pub fn of_parameter(parameter: &Parameter, codes: Vec<u32>) -> Result<Column> {
        let labels = parameter.levels().iter().map(literal).collect();
        let kind = match parameter.kind() {
            ParameterKind::Categorical => return Column::categorical(parameter.name(), labels, codes),
            ParameterKind::Boolean => ColumnKind::Boolean,
            ParameterKind::Integer | ParameterKind::Real => ColumnKind::Numeric,
        };
        let levels = (0..parameter.len()).map(|place| parameter.number(place)).collect();
        Column::ordered(parameter.name(), kind, levels, labels, codes)
    }

    /// Name of the parameter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its values are.
    pub fn kind(&self) -> ColumnKind {
        self.kind
    }

    /// The greatest power of two that divides the values of a column, as a column of its own: work that is laid out in
    /// units of a power of two, such as warps and cache lines, depends on it. `None` unless the levels are whole
    /// positive numbers, more than two of them, and not all powers of two, for which it would say nothing new.
    pub fn alignment(&self) -> Option<Column> {
        let whole = |&level: &f64| level >= 1.0 && level == level.trunc() && level < 9e15;
        if self.kind != ColumnKind::Numeric || self.levels.len() < 3 || !self.levels.iter().all(whole) {
            return None;
        }
        let power = |level: f64| 1_u64 << (level as u64).trailing_zeros();
        if self.levels.iter().all(|&level| power(level) == level as u64) {
            return None;
        }
        let mut levels: Vec<u64> = self.levels.iter().map(|&level| power(level)).collect();
        levels.sort_unstable();
        levels.dedup();
        if levels.len() < 2 {
            return None;
        }
        let place = |level: f64| levels.binary_search(&power(level)).unwrap_or(0) as u32;
        let places: Vec<u32> = self.levels.iter().map(|&level| place(level)).collect();
        Some(Column {
            name: format!("alignment of {}", self.name),
            kind: ColumnKind::Numeric,
            labels: levels.iter().map(u64::to_string).collect(),
            codes: self.codes.iter().map(|&code| places[code as usize]).collect(),
            levels: levels.into_iter().map(|level| level as f64).collect(),
            alignment_of: Some(self.name.clone()),
        })
    }

    /// The column whose alignment this is; see [`Column::alignment`].
    pub fn alignment_of(&self) -> Option<&str> {
        self.alignment_of.as_deref()
    }

    /// Its levels, ascending; places for categorical columns.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// A level as it is written in expressions, text without quotes.
    pub fn label(&self, place: u32) -> &str {
        self.labels.get(place as usize).map_or("", String::as_str)
    }

    /// For each row the place of its level.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The value in a row.
    pub fn value(&self, row: usize) -> f64 {
        self.levels[self.codes[row] as usize]
    }

    /// Whether it is split by order: `<=`.
    pub fn is_ordered(&self) -> bool {
        self.kind != ColumnKind::Categorical
    }

    /// Whether its only levels are off and on, written as numbers or as booleans.
    pub fn is_switch(&self) -> bool {
        self.kind == ColumnKind::Boolean || (self.is_ordered() && self.levels == [0.0, 1.0])
    }
}

/// Columns of the same length.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
}

impl Table {
    /// A table of these columns.
    ///
    /// # Errors
    /// No column, columns of different lengths, or two of the same name.
    pub fn new(columns: Vec<Column>) -> Result<Table> {
        let Some(first) = columns.first() else {
            return Err(request("the data have no parameter", "give at least one column"));
        };
        let rows = first.codes.len();
        for (at, column) in columns.iter().enumerate() {
            if column.codes.len() != rows {
                return Err(request(
                    format!(
                        "the parameter `{}` has {} values instead of {rows}",
                        column.name,
                        column.codes.len()
                    ),
                    "give each row a value of each parameter",
                ));
            }
            if columns[..at].iter().any(|other| other.name == column.name) {
                return Err(request(
                    format!("two parameters are named `{}`", column.name),
                    "rename one of them",
                ));
            }
        }
        if rows >= u32::MAX as usize {
            return Err(request("the data have 2^32 rows or more", "take a sample of them"));
        }
        Ok(Table { columns, rows })
    }

    /// The table of some points of a space with these parameters.
    ///
    /// # Errors
    /// No parameter, or points of another space.
    pub fn of_points<'a>(
        parameters: &[Parameter],
        points: impl Iterator<Item = &'a Point> + Clone,
    ) -> Result<Table> {
        let column = |(k, parameter): (usize, &Parameter)| {
            let codes = points.clone().map(|point| point.levels().get(k).copied().unwrap_or(u32::MAX));
            Column::of_parameter(parameter, codes.collect())
        };
        Table::new(parameters.iter().enumerate().map(column).collect::<Result<_>>()?)
    }

    /// The table with a column for every alignment behind its own; see [`Column::alignment`].
    pub fn with_alignments(&self) -> Table {
        let mut columns = self.columns.clone();
        columns.extend(self.columns.iter().filter_map(Column::alignment));
        Table { columns, rows: self.rows }
    }

    /// The columns, in the order of declaration.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Place of the column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The table with these rows only, in this order; levels stay.
    pub fn select(&self, rows: &[u32]) -> Table {
        let columns = self.columns.iter().map(|column| Column {
            codes: rows.iter().map(|&row| column.codes[row as usize]).collect(),
            ..column.clone()
        });
        Table { columns: columns.collect(), rows: rows.len() }
    }
}

/// A value as expressions have it: text in quotes.
fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) if text.contains('"') => format!("'{text}'"),
        Value::Text(text) => format!("\"{text}\""),
        Value::Boolean(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Integer(_) | Value::Real(_) => value.to_string(),
    }
}

/// A number as expressions have it: whole numbers without a point.
pub fn number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}
