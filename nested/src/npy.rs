//! NumPy `.npy` files of all element types of the language, in C order.
//!
//! The format: `\x93NUMPY`, two version bytes, the header's length (2 bytes in version 1, else 4, little-endian), the
//! header, which is a Python dictionary, and the elements.

use crate::data::Array;
use crate::program::Scalar;
use safe_io::{input, output_file};
use std::io::Write;
use std::path::Path;

/// Most bytes of a file.
const MOST_BYTES: u64 = 1 << 40;
const MAGIC: &[u8] = b"\x93NUMPY";

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct FileError {
    /// The file.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

/// A problem of a file.
pub fn problem(path: &Path, problem: impl Into<String>) -> FileError {
    FileError { path: path.display().to_string(), problem: problem.into() }
}

/// The element type of the header's `descr`.
fn scalar_of(descr: &str) -> Option<Scalar> {
    Some(match descr {
        "<i4" => Scalar::I32,
        "<i8" => Scalar::I64,
        "<f4" => Scalar::F32,
        "<f8" => Scalar::F64,
        "|b1" => Scalar::Bool,
        _ => return None,
    })
}

fn descr(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I32 => "<i4",
        Scalar::I64 => "<i8",
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
        Scalar::Bool => "|b1",
    }
}

/// The text behind a key of the header, up to what ends it.
fn value_of<'a>(header: &'a str, key: &str, ends: char) -> Option<&'a str> {
    let rest = &header[header.find(&format!("'{key}'"))? + key.len() + 2..];
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    rest.find(ends).map(|end| &rest[..end])
}

/// Reads an array; the elements of all its dimensions, in their order.
///
/// # Errors
/// A file that is no such file, is cut off, or has another type or order.
pub fn read(path: &Path) -> Result<Array, FileError> {
    let bytes = input::read(path, MOST_BYTES).map_err(|error| problem(path, error.to_string()))?;
    parse(&bytes).map_err(|text| problem(path, text))
}

/// The array of a file's bytes.
///
/// # Errors
/// What is wrong with them.
pub fn parse(bytes: &[u8]) -> Result<Array, String> {
    let cut = || "the file is cut off".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("this is no .npy file")?;
    let (version, rest) = rest.split_at_checked(2).ok_or_else(cut)?;
    let width = if version[0] == 1 { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(cut)?;
    let length = length.iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is no text".to_owned())?;
    let kind = value_of(header, "descr", ',').unwrap_or_default().trim_matches(['\'', '"', ' ']);
    let scalar = scalar_of(kind).ok_or_else(|| {
        format!(
            "elements are of type `{kind}`; read are <i4, <i8, <f4, <f8 and |b1 (use `a.astype('float64')`)"
        )
    })?;
    if value_of(header, "fortran_order", ',').map(str::trim) != Some("False") {
        return Err("the array is in Fortran order; use `numpy.ascontiguousarray(a)`".to_owned());
    }
    let shape = value_of(header, "shape", ')').unwrap_or_default().trim_start_matches('(');
    let extents =
        shape.split(',').map(str::trim).filter(|extent| !extent.is_empty()).map(str::parse::<usize>);
    let count = extents.map(Result::ok).try_fold(1_usize, |product, extent| product.checked_mul(extent?));
    let count = count.ok_or("the shape cannot be read")?;
    let size = count.checked_mul(scalar.bytes()).filter(|size| *size <= data.len()).ok_or_else(cut)?;
    let data = &data[..size];
    macro_rules! numbers {
        ($kind:ty, $make:ident) => {
            Array::$make(
                data.chunks_exact(size_of::<$kind>())
                    .filter_map(|own| own.try_into().ok())
                    .map(<$kind>::from_le_bytes)
                    .collect(),
            )
        };
    }
    Ok(match scalar {
        Scalar::I32 => numbers!(i32, I32),
        Scalar::I64 => numbers!(i64, I64),
        Scalar::F32 => numbers!(f32, F32),
        Scalar::F64 => numbers!(f64, F64),
        Scalar::Bool => Array::Bool(data.iter().map(|byte| *byte != 0).collect()),
    })
}

/// An array as a file's bytes, with elements of this many numbers.
pub fn bytes(array: &Array, width: usize) -> Vec<u8> {
    let count = array.len() / width.max(1);
    let shape = if width > 1 { format!("({count}, {width})") } else { format!("({count},)") };
    let mut header =
        format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", descr(array.scalar()));
    // The elements start at a multiple of 64 bytes; the header ends with a newline.
    let before = MAGIC.len() + 4;
    let padding = (before + header.len() + 1).next_multiple_of(64) - (before + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    match array {
        Array::I32(values) => values.iter().for_each(|value| file.extend(value.to_le_bytes())),
        Array::I64(values) => values.iter().for_each(|value| file.extend(value.to_le_bytes())),
        Array::F32(values) => values.iter().for_each(|value| file.extend(value.to_le_bytes())),
        Array::F64(values) => values.iter().for_each(|value| file.extend(value.to_le_bytes())),
        Array::Bool(values) => file.extend(values.iter().map(|value| u8::from(*value))),
    }
    file
}

/// Writes an array. The file appears under its name only when it is complete.
///
/// # Errors
/// Where it cannot be written.
pub fn write(path: &Path, array: &Array, width: usize) -> Result<(), FileError> {
    let bytes = bytes(array, width);
    output_file::write(path, |file| file.write_all(&bytes)).map_err(|error| problem(path, error.to_string()))
}
