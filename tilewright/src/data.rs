//! The arrays that a run starts from.

use crate::error::{Error, Result};
use crate::load::Stencil;
use execution::grid::ProgramData;
use execution::layout::{Layout, grid_points};
use execution::{initial, npy};
use polyhedral::program::{FieldId, Program, SeriesId};
use std::path::PathBuf;
use toolchain::interrupt;

/// A file for a field.
#[derive(Debug, Clone)]
pub struct FieldFile {
    /// The field.
    pub field: FieldId,
    /// The file.
    pub path: PathBuf,
}

/// Files with initial values.
#[derive(Debug, Clone, Default)]
pub struct InputFiles {
    /// Those of fields.
    pub fields: Vec<FieldFile>,
    /// Those of series.
    pub series: Vec<(SeriesId, PathBuf)>,
}

impl InputFiles {
    /// Whether some values come from no file.
    pub fn leave_some(&self, program: &Program) -> bool {
        self.fields.len() < program.fields.len() || self.series.len() < program.series.len()
    }
}

/// How the arrays lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrangement {
    /// Without gaps.
    Dense,
    /// Rows and levels at distances that suit the caches.
    #[default]
    Padded,
}

/// The shape of an input file without its time levels.
///
/// # Errors
/// A file that cannot be read, or an array of another dimension.
pub fn shape_of(program: &Program, input: &FieldFile) -> Result<Vec<i64>> {
    let reader = npy::Reader::open(&input.path)?;
    let shape = &reader.header().shape;
    let levels = initial::initial_levels(program, input.field).count();
    let extents = match shape.len().checked_sub(program.dimension()) {
        Some(0) => &shape[..],
        Some(1) if levels > 1 && shape[0] == levels as u64 => &shape[1..],
        _ => {
            return Err(Error::wrong_input(format!(
                "{}: the array has shape {}, but `{}` has {} space dimension(s) ({})",
                input.path.display(),
                npy::shape_text(shape),
                program.name,
                program.dimension(),
                program.space_indices.join(", ")
            )));
        }
    };
    Ok(extents.iter().map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX)).collect())
}

/// The arrays of all fields with their initial values: those of the input files, and pseudo-random ones
/// elsewhere. Series have values for so many steps.
///
/// # Errors
/// Files of a wrong shape or type, and grids that are impossible or do not fit into memory.
pub fn initial_data(
    program: &Program,
    size: &[i64],
    steps: i64,
    arrangement: Arrangement,
    inputs: &InputFiles,
    seed: u64,
) -> Result<ProgramData> {
    grid_points(program, size)?;
    let layout = match arrangement {
        Arrangement::Dense => Layout::dense(program, size)?,
        Arrangement::Padded => Layout::padded(program, size)?,
    };
    let mut data = ProgramData::zeroed_with(program, layout)?;
    initial::fill_series(program, &mut data, steps, seed)?;
    for (series, path) in &inputs.series {
        initial::load_series(program, &mut data, *series, path)?;
    }
    if inputs.fields.len() < program.fields.len() {
        initial::fill_random(program, &mut data, seed)?;
    }
    for input in &inputs.fields {
        interrupt::check()?;
        initial::load_field(program, &mut data, input.field, &input.path)?;
    }
    initial::prepare_boundary(program, &mut data)?;
    Ok(data)
}

/// Arrays with pseudo-random initial values, as they suit the caches.
///
/// # Errors
/// Grids that are impossible or do not fit into memory.
pub fn random_data(stencil: &Stencil, size: &[i64], steps: i64, seed: u64) -> Result<ProgramData> {
    let program = &stencil.program;
    initial_data(program, size, steps, Arrangement::Padded, &InputFiles::default(), seed)
}
