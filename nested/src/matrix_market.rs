//! Matrix Market files: sparse matrices of numbers, as compressed rows.
//!
//! Read are `matrix coordinate real|integer|pattern general|symmetric|skew-symmetric` (<https://math.nist.gov/MatrixMarket>).
//! Entries of one place stay apart, in the order of the file; entries of a row are in the order of their columns.

use crate::data::Array;
use crate::npy::{FileError, problem};
use safe_io::input;
use std::path::Path;

/// Most bytes of a file, unpacked.
const MOST_BYTES: u64 = 1 << 36;

/// A sparse matrix in compressed rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Number of columns.
    pub columns: usize,
    /// The entries.
    pub values: Array,
    /// The column of each entry.
    pub places: Array,
    /// Where each row begins, and the end of the last one.
    pub offsets: Array,
}

/// Reads a matrix; the file may be packed with gzip.
///
/// # Errors
/// What is wrong with the file, with its line.
pub fn read(path: &Path) -> Result<Matrix, FileError> {
    let bytes = input::read_unpacked(path, MOST_BYTES).map_err(|error| problem(path, error.to_string()))?;
    let text = input::text(bytes).map_err(|error| problem(path, error.to_string()))?;
    parse(&text).map_err(|text| problem(path, text))
}

/// The matrix of a file's text.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &str) -> Result<Matrix, String> {
    let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    let head = lines.next().map(|(_, line)| line.to_lowercase()).unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let ["%%matrixmarket", "matrix", "coordinate", field, symmetry] = words[..] else {
        return Err(
            "this is no sparse Matrix Market file: it begins with `%%MatrixMarket matrix coordinate ..`"
                .to_owned(),
        );
    };
    if !["real", "integer", "pattern"].contains(&field) {
        return Err(format!("the entries are `{field}`; read are real, integer and pattern"));
    }
    let sign = match symmetry {
        "general" => None,
        "symmetric" => Some(1.0),
        "skew-symmetric" => Some(-1.0),
        other => {
            return Err(format!("the matrix is `{other}`; read are general, symmetric and skew-symmetric"));
        }
    };
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let (at, sizes) = lines.next().ok_or("the line with the sizes is missing")?;
    let sizes: Vec<usize> = sizes.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [rows, columns, count] = sizes[..] else {
        return Err(format!("line {at}: rows, columns and entries are expected"));
    };
    if columns > i32::MAX as usize || rows > 1 << 40 || count > 1 << 40 {
        return Err(format!("line {at}: the matrix is too large"));
    }
    let mut entries = Vec::new();
    for (at, line) in lines {
        let mut words = line.split_whitespace();
        let mut place = |most: usize| {
            words.next().and_then(|word| word.parse::<usize>().ok()).filter(|own| (1..=most).contains(own))
        };
        let (row, column) = (place(rows), place(columns));
        let value = if field == "pattern" {
            Some(1.0)
        } else {
            words.next().and_then(|word| word.parse::<f64>().ok())
        };
        let (Some(row), Some(column), Some(value)) = (row, column, value) else {
            return Err(format!(
                "line {at}: `{}` is no entry of a matrix of {rows} x {columns}",
                line.chars().take(60).collect::<String>()
            ));
        };
        entries.push((row - 1, column - 1, value));
        if let Some(sign) = sign.filter(|_| row != column) {
            entries.push((column - 1, row - 1, sign * value));
        }
    }
    let found = entries.iter().filter(|(row, column, _)| sign.is_none() || row >= column).count();
    if found != count && sign.is_none() {
        return Err(format!("the file has {found} entries, but says {count}"));
    }
    entries.sort_by_key(|(row, column, _)| (*row, *column));
    let mut offsets = vec![0_i64; rows + 1];
    entries.iter().for_each(|(row, ..)| offsets[row + 1] += 1);
    (0..rows).for_each(|row| offsets[row + 1] += offsets[row]);
    Ok(Matrix {
        columns,
        places: Array::I32(entries.iter().map(|(_, column, _)| *column as i32).collect()),
        values: Array::F64(entries.into_iter().map(|(_, _, value)| value).collect()),
        offsets: Array::I64(offsets),
    })
}
