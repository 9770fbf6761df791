//! `tilewright adaptive emit`: a model as C.

use super::arguments::EmitArguments;
use super::source::told;
use crate::error::Result;
use crate::progress::Session;
use crate::report::{self, Report};
use adaptive::emit::emit;
use adaptive::{Classifier, model_file};
use execution::output_folder::{NewFile, OutputFolder};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The report of `adaptive emit`.
#[derive(Debug, Serialize)]
pub struct EmitReport {
    /// The function.
    pub name: String,
    /// The model in a few words.
    pub description: String,
    /// The files.
    pub files: Vec<PathBuf>,
}

/// Emits.
///
/// # Errors
/// A file that is no model, a prefix that is no name, files of others in the way.
pub fn emitted(arguments: &EmitArguments, session: &Session) -> Result<EmitReport> {
    let model = model_file::read(&arguments.file).map_err(told)?;
    let emitted = emit(&model, arguments.prefix.as_deref()).map_err(told)?;
    let folder =
        OutputFolder::new(&arguments.output, std::slice::from_ref(&arguments.file), arguments.force)?;
    let files: Vec<NewFile<'_>> =
        emitted.files.iter().map(|(name, text)| (Path::new(name.as_str()), text.as_bytes())).collect();
    let (_, files) = session.stage("write", || folder.write(&files))?;
    Ok(EmitReport { name: model.name.clone(), description: model.classifier.description(), files })
}

impl Report for EmitReport {
    const SCHEMA: &'static str = "tilewright.adaptive-emit/1";

    fn text(&self) -> String {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        report::pairs(&[
            ("function", self.name.clone()),
            ("model", self.description.clone()),
            ("files", files.join("\n")),
        ])
    }
}
