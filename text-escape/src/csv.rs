//! Cells that spreadsheets would compute.

use std::borrow::Cow;

/// Whether a spreadsheet takes the text for a formula: it begins with one of the signs that formulas begin with, in
/// either width, and is not a number.
fn is_formula(text: &str) -> bool {
    let formula = |letter: char| matches!(letter, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠');
    text.starts_with(['\t', '\r', '\n'])
        || text.trim_start().starts_with(formula) && text.trim().parse::<f64>().is_err()
}

/// The text of a cell, an apostrophe before it where it would be a formula. Commas and quotes are the business of the
/// one who writes the line.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) { format!("'{text}").into() } else { text.into() }
}

/// What [`csv_cell`] was made of.
pub fn csv_text(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if is_formula(rest.trim_start_matches('\'')) => rest,
        _ => cell,
    }
}
