//! Errors of the library as exceptions of `tilewright.errors`.

use pyo3::prelude::*;
use tilewright::Error;

/// The exception for an error. Where Python cannot even make that one, the reason why.
pub fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let diagnostics: Vec<(String, String, usize, usize, String)> = match error {
            Error::Program(found) => {
                let one = |one: &polyhedral::diagnostic::Diagnostic| {
                    let (line, column) = found.source.line_column(one.primary.span.start);
                    (one.code.0.to_owned(), one.message.clone(), line, column, found.source.name.clone())
                };
                found.list.iter().map(one).collect()
            }
            _ => Vec::new(),
        };
        let module = py.import("tilewright.errors")?;
        let arguments = (error.kind().name(), error.to_string(), error.hints(), diagnostics);
        Ok(PyErr::from_value(module.getattr("of_kind")?.call1(arguments)?))
    };
    make().unwrap_or_else(|failure| failure)
}

/// An error of the library, raised.
pub fn raised<T>(py: Python<'_>, result: tilewright::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}
