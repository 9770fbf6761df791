//! What the arguments of `run` say of its data: files, parameters and the grid's size.

use crate::arguments::{Assignment, Size};
use crate::error::{Error, Result};
use execution::initial::{field_named, series_named};
use execution::layout::grid_points;
use execution::reference;
use polyhedral::program::{Program, SeriesId};
use std::collections::BTreeSet;
use std::path::PathBuf;
use text_escape::suggest;
use tilewright::data::{FieldFile, InputFiles, shape_of};

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
                    .maybe_hint(suggest::hint(name, names))
            })?;
            if !seen.insert(field) {
                return Err(Error::wrong_input(format!("{option} names the field `{name}` twice")));
            }
            Ok(FieldFile { field, path: PathBuf::from(value) })
        })
        .collect()
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
                .maybe_hint(suggest::hint(name, names()))
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
pub fn grid_size(program: &Program, size: Option<&Size>, inputs: &[FieldFile]) -> Result<Vec<i64>> {
    let size = match (size, inputs.first()) {
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
