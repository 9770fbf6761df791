//! What `run` starts from: the grid's size, parameters, and initial values; all checked before anything runs.

use crate::arguments::{Assignment, LayoutName, RunArguments};
use crate::error::{Error, Result};
use crate::load::did_you_mean;
use execution::grid::ProgramData;
use execution::initial::{self, field_named, series_named};
use execution::layout::{Layout, grid_points};
use execution::{interrupt, npy, reference};
use polyhedral::program::{FieldId, Program, SeriesId};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A file for a field.
#[derive(Debug, Clone)]
pub struct FieldFile {
    /// The field.
    pub field: FieldId,
    /// The file.
    pub path: PathBuf,
}

/// The files of `--input` or `--output`.
///
/// # Errors
/// Unknown fields and fields given twice.
pub fn field_files(program: &Program, option: &str, assignments: &[Assignment]) -> Result<Vec<FieldFile>> {
    let mut seen = BTreeSet::new();
    assignments
        .iter()
        .map(|Assignment { name, value }| {
            let field = field_named(program, name).map_err(|error| {
                let names = program.fields.iter().map(|field| field.name.as_str());
                Error::wrong_input(format!("{option} {name}=...: {error}"))
                    .maybe_hint(did_you_mean(name, names))
            })?;
            if !seen.insert(field) {
                return Err(Error::wrong_input(format!("{option} names the field `{name}` twice")));
            }
            Ok(FieldFile { field, path: PathBuf::from(value) })
        })
        .collect()
}

/// The files of `--input`.
#[derive(Debug, Clone)]
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

/// The files of `--input`, for fields and for series.
///
/// # Errors
/// Unknown names and names given twice.
pub fn input_files(program: &Program, assignments: &[Assignment]) -> Result<InputFiles> {
    let mut series: Vec<(SeriesId, PathBuf)> = Vec::new();
    let mut fields = Vec::new();
    for assignment in assignments {
        let Some(id) = series_named(program, &assignment.name) else {
            fields.push(assignment.clone());
            continue;
        };
        if series.iter().any(|(known, _)| *known == id) {
            return Err(Error::wrong_input(format!("--input names the series `{}` twice", assignment.name)));
        }
        series.push((id, PathBuf::from(&assignment.value)));
    }
    Ok(InputFiles { fields: field_files(program, "--input", &fields)?, series })
}

/// One value for each parameter: those given, else the defaults.
///
/// # Errors
/// Unknown names, names given twice, and values that are not finite numbers.
pub fn parameters(program: &Program, assignments: &[Assignment]) -> Result<Vec<f64>> {
    let mut values = reference::default_parameters(program);
    let mut seen = BTreeSet::new();
    for Assignment { name, value } in assignments {
        let index = program.parameters.iter().position(|parameter| parameter.name == *name);
        let names = || program.parameters.iter().map(|parameter| parameter.name.as_str());
        let index = index.ok_or_else(|| {
            let known = match names().collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => "it has none".to_owned(),
                names => format!("its parameters are {names}"),
            };
            Error::wrong_input(format!("--param: `{}` has no parameter `{name}`; {known}", program.name))
                .maybe_hint(did_you_mean(name, names()))
        })?;
        if !seen.insert(index) {
            return Err(Error::wrong_input(format!("--param names `{name}` twice")));
        }
        values[index] =
            value.trim().parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| {
                Error::wrong_input(format!("--param {name}: `{value}` is not a finite number, such as 0.125"))
            })?;
    }
    Ok(values)
}

/// The grid's size: as given, else that of the first input file.
///
/// # Errors
/// A size of another dimension or too large to be counted; no size and no input.
pub fn grid_size(program: &Program, arguments: &RunArguments, inputs: &[FieldFile]) -> Result<Vec<i64>> {
    let size = match (&arguments.size, inputs.first()) {
        (Some(size), _) => size.0.clone(),
        (None, Some(input)) => shape_of(program, input)?,
        (None, None) => {
            let extents = vec!["N"; program.dimension()].join("x");
            return Err(Error::wrong_input(format!(
                "the grid has no size: give --size {extents} ({}), or --input FIELD=FILE.npy",
                program.space_indices.join(", ")
            )));
        }
    };
    grid_points(program, &size)?;
    Ok(size)
}

/// The shape of an input without its time levels.
fn shape_of(program: &Program, input: &FieldFile) -> Result<Vec<i64>> {
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
/// elsewhere.
///
/// # Errors
/// Files of a wrong shape or type, and grids that do not fit into memory.
pub fn initial_data(
    program: &Program,
    size: &[i64],
    arguments: &RunArguments,
    inputs: &InputFiles,
) -> Result<ProgramData> {
    let RunArguments { seed, steps, .. } = *arguments;
    let layout = match arguments.layout {
        LayoutName::Dense => Layout::dense(program, size)?,
        LayoutName::Padded => Layout::padded(program, size)?,
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
