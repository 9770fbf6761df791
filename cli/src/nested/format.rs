//! `tilewright nested format`.

use super::arguments::FormatArguments;
use super::common::load;
use super::run::array_names;
use crate::error::Result;
use crate::report::Report;
use execution::output_file;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// The report of `nested format`.
#[derive(Debug, Serialize)]
pub struct FormatReport {
    /// The program's name.
    pub program: String,
    /// Its text.
    pub source: String,
    /// Whether the text was in this form before.
    pub unchanged: bool,
    /// The names of inputs and parameters.
    pub given: Vec<String>,
    /// The names of the arrays that a run can hand out.
    pub results: Vec<String>,
    /// The file that it was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// Prints a program in its one form.
///
/// # Errors
/// Mistakes in the program, or a file that cannot be written.
pub fn format(arguments: &FormatArguments) -> Result<FormatReport> {
    let loaded = load(&arguments.program.program)?;
    let source = nested::format(&loaded.text).unwrap_or_else(|| loaded.text.clone());
    if let Some(path) = &arguments.output {
        output_file::write(path, |out| out.write_all(source.as_bytes()))?;
    }
    let unchanged = source == loaded.text;
    let program = &loaded.program;
    let given = program.given().map(|(_, variable)| variable.name.clone()).collect();
    let results = program.outputs.iter().flat_map(|&id| array_names(program, id)).collect();
    let (program, file) = (program.name.clone(), arguments.output.clone());
    Ok(FormatReport { program, source, unchanged, given, results, file })
}

impl Report for FormatReport {
    const SCHEMA: &'static str = "tilewright.nested.format/1";

    fn text(&self) -> String {
        match &self.file {
            Some(file) => format!("program  {}\nfile     {}", self.program, file.display()),
            None => self.source.trim_end().to_owned(),
        }
    }
}
