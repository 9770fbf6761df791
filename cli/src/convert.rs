//! `tilewright convert`: a program as text of the stencil language.

use crate::arguments::{CArguments, ElementTypeName};
use crate::error::Result;
use crate::progress::Session;
use crate::report::Report;
use crate::{load, outputs};
use clap::Args;
use execution::output_file;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArguments {
    /// A C file, a .stencil file or a shipped stencil
    #[arg(value_name = "SPEC")]
    pub spec: String,
    /// How a C file is preprocessed.
    #[command(flatten)]
    pub c: CArguments,
    /// Use this type for all fields instead of their own
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<ElementTypeName>,
    /// File to write to instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The report of `convert`.
#[derive(Debug, Serialize)]
pub struct ConvertReport {
    /// Name of the stencil.
    pub stencil: String,
    /// The text; it parses to the same program.
    pub source: String,
    /// The file that it was written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// Reads a program and prints it.
///
/// # Errors
/// Wrong input, or a file that cannot be written.
pub fn convert(arguments: &ConvertArguments, session: &Session) -> Result<ConvertReport> {
    let loaded = session.stage("read", || load::load(&arguments.spec, arguments.dtype, &arguments.c))?;
    outputs::check(&outputs::given([("--output", &arguments.output)]), &loaded.files)?;
    let source = loaded.program.to_source();
    if let Some(path) = &arguments.output {
        output_file::write(path, |out| out.write_all(source.as_bytes()))?;
    }
    Ok(ConvertReport { stencil: loaded.program.name.clone(), source, file: arguments.output.clone() })
}

impl Report for ConvertReport {
    const SCHEMA: &'static str = "tilewright.convert/1";

    fn text(&self) -> String {
        match &self.file {
            Some(file) => format!("stencil  {}\nfile     {}", self.stencil, file.display()),
            None => self.source.trim_end().to_owned(),
        }
    }
}
