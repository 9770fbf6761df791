//! What the commands of `nested` share: programs, data, implementations.

use super::arguments::{DataArguments, ImplementationArguments};
use crate::error::{Error, Result};
use nested::analysis::gpu::GpuImplementation;
use nested::analysis::{Computation, Implementation, choice, gpu};
use nested::data::{Array, Inputs};
use nested::program::{Program, Scalar};
use nested::{matrix_market, npy, shipped};
use std::path::{Path, PathBuf};

/// A program with its text, and the file that it is from.
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// Its text.
    pub text: String,
    /// Its file, unless it is a shipped one.
    pub file: Option<PathBuf>,
}

/// Reads a program.
///
/// # Errors
/// A name that is none, a file that cannot be read, and mistakes in it.
pub fn load(spec: &str) -> Result<Loaded> {
    if let Some(text) = shipped::text(spec) {
        let program = nested::parse(&format!("<shipped {spec}>"), text)?;
        return Ok(Loaded { program, text: text.to_owned(), file: None });
    }
    let path = Path::new(spec);
    if !spec.ends_with(".nested") && !path.exists() {
        let names = shipped::all();
        let close = text_escape::suggest::nearest(spec, names.iter().map(|(name, _)| *name));
        let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let error = Error::wrong_input(format!("`{spec}` is neither a .nested file nor a shipped program"));
        return Err(match close {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error.hint(format!("shipped are {}", names.join(", "))),
        });
    }
    // One byte more than is read, so that the diagnostic can tell.
    let most = nested::parser::MOST_BYTES as u64 + 1;
    let bytes = safe_io::input::read(path, most)
        .map_err(|error| Error::wrong_input(format!("cannot read {}: {error}", path.display())))?;
    let program = nested::parse_bytes(spec, &bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Loaded { program, text, file: Some(path.to_owned()) })
}

/// A name and what stands behind `=`.
pub fn assignment<'a>(text: &'a str, option: &str, form: &str) -> Result<(&'a str, &'a str)> {
    let found = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    found.ok_or_else(|| Error::wrong_input(format!("{option}: `{text}` is not of the form {form}")))
}

/// The arrays that the command line gives.
///
/// # Errors
/// What cannot be read, or is given twice.
pub fn inputs(program: &Program, arguments: &DataArguments) -> Result<Inputs> {
    let DataArguments { input, matrix, param, .. } = arguments;
    inputs_in(Path::new(""), program, input, matrix, param)
}

/// The same, for files in a folder.
///
/// # Errors
/// As before.
pub fn inputs_in(
    folder: &Path,
    program: &Program,
    input: &[String],
    matrix: &[String],
    param: &[String],
) -> Result<Inputs> {
    let mut inputs = Inputs::new();
    let mut add = |name: &str, array: Array| match inputs.insert(name.to_owned(), array) {
        None => Ok(()),
        Some(_) => Err(Error::wrong_input(format!("`{name}` is given twice"))),
    };
    let wrong = |error: npy::FileError| Error::wrong_input(error.to_string());
    for own in input {
        let (name, file) = assignment(own, "--input", "NAME=FILE.npy")?;
        add(name, npy::read(&folder.join(file)).map_err(wrong)?)?;
    }
    for own in matrix {
        let form = "VALUES,COLUMNS,OFFSETS=FILE.mtx";
        let (names, file) = assignment(own, "--matrix", form)?;
        let names: Vec<&str> = names.split(',').collect();
        let [values, places, offsets] = names[..] else {
            return Err(Error::wrong_input(format!("--matrix: `{own}` is not of the form {form}")));
        };
        let matrix = matrix_market::read(&folder.join(file)).map_err(wrong)?;
        add(values, matrix.values)?;
        add(places, matrix.places)?;
        add(offsets, matrix.offsets)?;
    }
    for own in param {
        let (name, value) = assignment(own, "--param", "NAME=NUMBER")?;
        let variable = program.given().find(|(_, variable)| variable.name == name);
        let scalar = variable.and_then(|(_, variable)| variable.ty.scalar());
        let array = match scalar {
            Some(Scalar::I32) => value.parse().ok().map(|value| Array::I32(vec![value])),
            Some(Scalar::I64) => value.parse().ok().map(|value| Array::I64(vec![value])),
            Some(Scalar::F32) => value.parse().ok().map(|value| Array::F32(vec![value])),
            Some(Scalar::F64) => value.parse().ok().map(|value| Array::F64(vec![value])),
            Some(Scalar::Bool) => value.parse().ok().map(|value| Array::Bool(vec![value])),
            None => {
                let names: Vec<&str> = program.given().map(|(_, variable)| variable.name.as_str()).collect();
                let error = Error::wrong_input(format!("the program has no parameter `{name}`"));
                return Err(error.hint(format!("it is given {}", names.join(", "))));
            }
        };
        let kind = scalar.map_or("", Scalar::name);
        add(name, array.ok_or_else(|| Error::wrong_input(format!("--param: `{value}` is no {kind}")))?)?;
    }
    nested::data::arranged(program, &inputs).map_err(|error| Error::wrong_input(error.to_string()))?;
    Ok(inputs)
}

/// The implementations that the command line asks for.
///
/// # Errors
/// A computation that is not there, and rules that are violated.
pub fn implementations(
    list: &[Computation],
    arguments: &ImplementationArguments,
) -> Result<Vec<Implementation>> {
    chosen(list, arguments, Implementation::default_of, choice::choose)
}

/// The same for a GPU.
///
/// # Errors
/// As before.
pub fn gpu_implementations(
    list: &[Computation],
    arguments: &ImplementationArguments,
) -> Result<Vec<GpuImplementation>> {
    chosen(list, arguments, GpuImplementation::default_of, gpu::choose)
}

fn chosen<T>(
    list: &[Computation],
    arguments: &ImplementationArguments,
    default: impl Fn(&Computation) -> T,
    choose: impl Fn(&Computation, Option<&str>, Option<&str>) -> std::result::Result<T, String>,
) -> Result<Vec<T>> {
    let mut schedules: Vec<Option<&str>> = vec![None; list.len()];
    let mut policies: Vec<Option<&str>> = vec![None; list.len()];
    let place = |name: Option<&str>, option: &str| -> Result<usize> {
        let real: Vec<usize> = (0..list.len()).filter(|place| !list[*place].sequence.is_empty()).collect();
        let names: Vec<&str> = real.iter().map(|place| list[*place].name.as_str()).collect();
        let found = match name {
            Some(name) => real.iter().find(|place| list[**place].name == name).copied(),
            None => real.first().copied().filter(|_| real.len() == 1),
        };
        found.ok_or_else(|| {
            let what = name
                .map_or("name a computation".to_owned(), |name| format!("there is no computation `{name}`"));
            Error::wrong_input(format!("{option}: {what}"))
                .hint(format!("the computations are {}", names.join(", ")))
        })
    };
    for own in &arguments.schedule {
        let (name, text) =
            own.split_once('=').map_or((None, own.as_str()), |(name, text)| (Some(name), text));
        schedules[place(name, "--schedule")?] = Some(text);
    }
    for own in &arguments.policy {
        let (name, text) = match own.split_once(':') {
            Some((name, text)) => (Some(name), text),
            None => (None, own.as_str()),
        };
        // `y=omp_schedule_1=dynamic` is understood, too.
        let named = text.split_once('=').filter(|(_, rest)| {
            name.is_none() && rest.split(',').next().is_some_and(|first| first.contains('='))
        });
        let (name, text) = named.map_or((name, text), |(name, rest)| (Some(name), rest));
        policies[place(name, "--policy")?] = Some(text);
    }
    let chosen = list.iter().zip(schedules).zip(policies).map(|((own, schedule), policy)| {
        if schedule.is_none() && policy.is_none() {
            return Ok(default(own));
        }
        choose(own, schedule, policy).map_err(|rule| Error::infeasible(format!("`{}`: {rule}", own.name)))
    });
    chosen.collect()
}

/// How many threads compute: all cores where nobody says.
pub fn threads(wanted: Option<usize>) -> usize {
    wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The computation that is tuned: the one named, or the first one with most levels.
pub fn tuned(list: &[Computation], name: Option<&str>) -> Result<usize> {
    let real: Vec<usize> = (0..list.len()).filter(|place| !list[*place].sequence.is_empty()).collect();
    let found = match name {
        Some(name) => real.iter().find(|place| list[**place].name == name).copied(),
        None => real.iter().rev().max_by_key(|place| list[**place].sequence.len()).copied(),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = real.iter().map(|place| list[*place].name.as_str()).collect();
        let error = Error::wrong_input("there is no such computation to tune");
        error.hint(format!("the computations are {}", names.join(", ")))
    })
}

/// Why a program cannot be done on a GPU as it was asked for.
pub fn refused(rule: String) -> Error {
    Error::infeasible(rule)
        .hint("`tilewright nested analyze` shows schedules and policies; --target openmp has others")
}
