//! NumPy `.npy` files (format versions 1, 2 and 3): arrays of `<f4` or `<f8` in C order.
//!
//! The format: the magic `\x93NUMPY`, two version bytes, the header's length (2 bytes in version 1, else 4,
//! little-endian), the header, which is a Python dictionary with the keys `descr`, `fortran_order` and
//! `shape`, and the elements. See <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.

use crate::element::Element;
use crate::error::{ExecutionError, Result};
use crate::grid::{ValuesMut, ValuesRef};
use crate::layout::Layout;
use crate::output_file;
use polyhedral::program::ElementType;
use safe_io::input::{self, Input};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

mod header;

pub use header::Header;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Longer headers than this are not those of a plain array.
const MAX_HEADER: usize = 64 << 10;
/// Bytes converted at a time.
const PIECE: usize = 64 << 10;

/// A shape as Python writes it: `(4, 5)`, `(4,)`.
pub fn shape_text(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// An array file being read.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    file: BufReader<Input>,
    header: Header,
}

impl Reader {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`ExecutionError::File`] where it cannot be read; [`ExecutionError::Npy`] where it is no `.npy` file,
    /// is truncated, or holds anything but `<f4` or `<f8` in C order.
    pub fn open(path: &Path) -> Result<Reader> {
        let failed = |source| ExecutionError::File { action: "read", path: path.to_owned(), source };
        if path.is_dir() {
            return Err(problem(path, "is a folder; a .npy file was expected".to_owned()));
        }
        let file = input::open(path).map_err(failed)?;
        let mut file = BufReader::with_capacity(PIECE, file);
        let header = read_header(&mut file).map_err(|cause| cause.at(path))?;
        Ok(Reader { path: path.to_owned(), file, header })
    }

    /// Element type and shape.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the next elements, as many as `to` has.
    ///
    /// # Errors
    /// [`ExecutionError::Npy`] where the file has another element type or ends too early.
    pub fn read_into(&mut self, to: ValuesMut<'_>) -> Result<()> {
        match to {
            ValuesMut::F32(values) => self.read_values(std::iter::once(0..values.len()), values),
            ValuesMut::F64(values) => self.read_values(std::iter::once(0..values.len()), values),
        }
    }

    /// Reads the next elements to the points of a level, in dense order.
    ///
    /// # Errors
    /// As for [`Reader::read_into`].
    pub fn read_level(&mut self, layout: &Layout, to: ValuesMut<'_>) -> Result<()> {
        match to {
            ValuesMut::F32(values) => self.read_values(level_elements(layout), values),
            ValuesMut::F64(values) => self.read_values(level_elements(layout), values),
        }
    }

    fn read_values<T: Element>(
        &mut self,
        ranges: impl Iterator<Item = Range<usize>>,
        values: &mut [T],
    ) -> Result<()> {
        let (expected, found) = (T::ELEMENT, self.header.element);
        if expected != found {
            let text = format!(
                "the array has elements of type {} ({}), but {} ({}) are needed; convert it with `a.astype('{}')`",
                found.name(),
                descr(found),
                expected.name(),
                descr(expected),
                descr(expected)
            );
            return Err(problem(&self.path, text));
        }
        let width = size_of::<T>();
        let mut bytes = vec![0u8; PIECE];
        for range in ranges {
            for piece in values[range].chunks_mut(PIECE / width) {
                let bytes = &mut bytes[..size_of_val(piece)];
                self.file.read_exact(bytes).map_err(|error| Cause::from(error).at(&self.path))?;
                for (value, bytes) in piece.iter_mut().zip(bytes.chunks_exact(width)) {
                    *value = T::from_bytes(bytes);
                }
            }
        }
        Ok(())
    }
}

/// The elements of a level that are points, in dense order.
fn level_elements(layout: &Layout) -> impl Iterator<Item = Range<usize>> + '_ {
    layout.segments(0..layout.points()).map(|segment| segment.elements())
}

/// Reads a whole array of known shape.
///
/// # Errors
/// [`ExecutionError::Npy`] where type or shape are others, or as for [`Reader::open`].
pub fn read_into(path: &Path, shape: &[u64], to: ValuesMut<'_>) -> Result<()> {
    let mut reader = Reader::open(path)?;
    if reader.header.shape != shape {
        let found = shape_text(&reader.header.shape);
        return Err(problem(
            path,
            format!("the array has shape {found}, but {} is needed", shape_text(shape)),
        ));
    }
    reader.read_into(to)
}

/// Writes an array (format version 1.0). The file appears under its name only when it is complete.
///
/// # Errors
/// [`ExecutionError::File`]; [`ExecutionError::Npy`] where `shape` does not have as many elements as `values`.
pub fn write(path: &Path, shape: &[u64], values: ValuesRef<'_>) -> Result<()> {
    if shape.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent))
        != Some(values.len() as u64)
    {
        let text = format!("{} elements cannot be written with shape {}", values.len(), shape_text(shape));
        return Err(problem(path, text));
    }
    write_ranges(path, shape, std::iter::once(0..values.len()), values)
}

/// Writes the points of a level, without padding, as an array of the grid's shape. The file appears under its
/// name only when it is complete.
///
/// # Errors
/// [`ExecutionError::File`].
///
/// # Panics
/// Where `level` is shorter than a level of the layout.
pub fn write_level(path: &Path, layout: &Layout, level: ValuesRef<'_>) -> Result<()> {
    let shape: Vec<u64> = layout.size().iter().map(|&extent| extent as u64).collect();
    write_ranges(path, &shape, level_elements(layout), level)
}

fn write_ranges(
    path: &Path,
    shape: &[u64],
    ranges: impl Iterator<Item = Range<usize>>,
    values: ValuesRef<'_>,
) -> Result<()> {
    output_file::write(path, |file| {
        let mut file = BufWriter::with_capacity(PIECE, file);
        write_header(&mut file, shape, values.element())?;
        match values {
            ValuesRef::F32(values) => write_values(&mut file, ranges, values)?,
            ValuesRef::F64(values) => write_values(&mut file, ranges, values)?,
        }
        file.flush()
    })
}

fn write_header(file: &mut impl Write, shape: &[u64], element: ElementType) -> std::io::Result<()> {
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
        descr(element),
        shape_text(shape)
    );
    // The elements start at a multiple of 64 bytes; the header ends with a newline.
    let before = MAGIC.len() + 4;
    let padding = (before + header.len() + 1).next_multiple_of(64) - (before + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    file.write_all(MAGIC)?;
    file.write_all(&[1, 0])?;
    // At most 3 dimensions and one for the levels: far below 65,536 bytes.
    file.write_all(&(header.len() as u16).to_le_bytes())?;
    file.write_all(header.as_bytes())
}

fn write_values<T: Element>(
    file: &mut impl Write,
    ranges: impl Iterator<Item = Range<usize>>,
    values: &[T],
) -> std::io::Result<()> {
    let mut bytes = Vec::with_capacity(PIECE);
    for range in ranges {
        for piece in values[range].chunks(PIECE / size_of::<T>()) {
            bytes.clear();
            piece.iter().for_each(|value| value.push_bytes(&mut bytes));
            file.write_all(&bytes)?;
        }
    }
    Ok(())
}

fn descr(element: ElementType) -> &'static str {
    match element {
        ElementType::F32 => "<f4",
        ElementType::F64 => "<f8",
    }
}

fn problem(path: &Path, problem: String) -> ExecutionError {
    ExecutionError::Npy { path: path.to_owned(), problem }
}

/// Why reading stopped.
enum Cause {
    Content(String),
    Read(std::io::Error),
}

impl Cause {
    fn at(self, path: &Path) -> ExecutionError {
        match self {
            Cause::Content(text) => problem(path, text),
            Cause::Read(source) => ExecutionError::File { action: "read", path: path.to_owned(), source },
        }
    }
}

impl From<std::io::Error> for Cause {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::UnexpectedEof => Cause::Content("the file is truncated: it ends too early".to_owned()),
            _ => Cause::Read(error),
        }
    }
}

fn read_header(file: &mut impl Read) -> std::result::Result<Header, Cause> {
    let mut start = [0u8; 8];
    match file.read_exact(&mut start) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(Cause::Read(error)),
        Ok(()) if start.starts_with(MAGIC) => {}
        _ => return Err(Cause::Content("is not a .npy file (write one with numpy.save)".to_owned())),
    }
    let length = match start[6] {
        1 => {
            let mut length = [0u8; 2];
            file.read_exact(&mut length)?;
            usize::from(u16::from_le_bytes(length))
        }
        2 | 3 => {
            let mut length = [0u8; 4];
            file.read_exact(&mut length)?;
            usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX)
        }
        other => {
            return Err(Cause::Content(format!("has .npy format version {other}; 1, 2 and 3 are known")));
        }
    };
    if length > MAX_HEADER {
        let text = format!("has a header of {length} bytes; a plain array has one of at most {MAX_HEADER}");
        return Err(Cause::Content(text));
    }
    let mut header = vec![0u8; length];
    file.read_exact(&mut header)?;
    header::parse(&String::from_utf8_lossy(&header)).map_err(Cause::Content)
}

#[cfg(test)]
mod tests;
