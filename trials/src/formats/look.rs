//! What the cells of a column look like.

use super::sheet::Sheet;
use crate::value::Value;
use std::collections::HashMap;

/// What the cells are, those without a value aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No cell has a value.
    Empty,
    Whole,
    /// Numbers, some with a fraction or an exponent.
    Real,
    Boolean,
    Text,
    /// Numbers, and text or booleans.
    Mixed,
    /// Some have a comma as the decimal point.
    DecimalCommas,
}

/// A column at a glance.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub kind: Kind,
    /// Cells without a value: empty, not a number, infinite.
    pub missing: usize,
    /// Number of different values.
    pub distinct: usize,
    /// For each row the place of its value among the different ones.
    pub codes: Vec<u32>,
    /// Least and greatest number.
    range: Option<(f64, f64)>,
    /// The first few values.
    examples: Vec<String>,
}

const EXAMPLES: usize = 4;

impl Look {
    pub fn of(sheet: &Sheet, column: usize) -> Look {
        let (mut missing, mut range) = (0, None);
        let (mut whole, mut real, mut boolean, mut text, mut commas) = (0, 0, 0, 0, 0);
        let mut seen: HashMap<String, u32> = HashMap::new();
        let mut examples = Vec::new();
        let mut codes = Vec::with_capacity(sheet.rows.len());
        for cell in sheet.column(column) {
            let value = Value::parse(cell);
            if is_missing(cell) {
                missing += 1;
            } else {
                let count = match &value {
                    Value::Integer(_) => &mut whole,
                    Value::Real(_) => &mut real,
                    Value::Boolean(_) => &mut boolean,
                    Value::Text(text) if has_decimal_comma(text) => &mut commas,
                    Value::Text(_) => &mut text,
                };
                *count += 1;
                if let (Some(number), false) = (value.number(), matches!(value, Value::Boolean(_))) {
                    let (least, most) = range.unwrap_or((number, number));
                    range = Some((number.min(least), number.max(most)));
                }
            }
            // `1` and `1.0` are one value, as for parameters.
            let key = match value.number() {
                Some(number) if !matches!(value, Value::Boolean(_)) => format!("{number:?}"),
                _ => value.to_string(),
            };
            let next = seen.len() as u32;
            codes.push(*seen.entry(key).or_insert_with(|| {
                if examples.len() < EXAMPLES && !cell.is_empty() {
                    examples.push(cell.chars().take(24).collect());
                }
                next
            }));
        }
        let numbers = whole + real;
        let kind = match (numbers, boolean, text, commas) {
            (0, 0, 0, 0) => Kind::Empty,
            (_, _, 0, 1..) => Kind::DecimalCommas,
            (1.., 0, 0, 0) => {
                if real > 0 {
                    Kind::Real
                } else {
                    Kind::Whole
                }
            }
            (0, 1.., 0, 0) => Kind::Boolean,
            (0, _, _, _) => Kind::Text,
            _ => Kind::Mixed,
        };
        Look { kind, missing, distinct: seen.len(), codes, range, examples }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.codes.len()
    }

    /// Whether cells hold numbers, apart from words in place of some.
    pub fn has_numbers(&self) -> bool {
        matches!(self.kind, Kind::Whole | Kind::Real | Kind::Mixed)
    }

    /// Whether every row has a value of its own.
    pub fn all_different(&self) -> bool {
        self.rows() > 1 && self.distinct == self.rows()
    }

    /// As text: `whole numbers, 3 different, 1 to 4`.
    pub fn text(&self) -> String {
        let what = match self.kind {
            Kind::Empty => return "empty".to_owned(),
            Kind::Whole => "whole numbers",
            Kind::Real => "numbers",
            Kind::Boolean => "true or false",
            Kind::Text => "text",
            Kind::Mixed => "numbers and text",
            Kind::DecimalCommas => "numbers with a comma as the decimal point",
        };
        let mut text = format!("{what}, {} different", self.distinct);
        match (self.kind, self.range) {
            (Kind::Whole | Kind::Real | Kind::Mixed, Some((least, most))) => {
                text += &format!(", {} to {}", shown(least), shown(most));
            }
            _ => {
                let more = if self.distinct > self.examples.len() { ", .." } else { "" };
                text += &format!(": {}{more}", self.examples.join(", "));
            }
        }
        if self.missing > 0 {
            text += &format!(", {} without a value", self.missing);
        }
        text
    }
}

/// A number, whole ones without a point.
fn shown(number: f64) -> String {
    if number == number.trunc() && number.abs() < 1e15 {
        format!("{number:.0}")
    } else {
        format!("{number:?}")
    }
}

/// Whether a cell stands for no value.
pub(super) fn is_missing(cell: &str) -> bool {
    let lower = cell.to_ascii_lowercase();
    let lower = lower.trim_start_matches(['-', '+']);
    matches!(lower, "" | "nan" | "inf" | "infinity" | "na" | "n/a" | "null" | "none")
}

/// `0,5`, which is a number in some languages.
fn has_decimal_comma(text: &str) -> bool {
    let halves = text.trim_start_matches(['-', '+']).split_once(',');
    let digits = |half: &str| !half.is_empty() && half.bytes().all(|byte| byte.is_ascii_digit());
    halves.is_some_and(|(whole, fraction)| {
        digits(whole) && digits(fraction.split(['e', 'E']).next().unwrap_or(""))
    })
}
