//! `tilewright nested compile`.

use super::arguments::{CompileArguments, TargetName};
use super::common::{gpu_implementations, implementations, load, refused};
use crate::error::Result;
use crate::report::Report;
use execution::output_folder::{NewFile, OutputFolder};
use nested::openmp::{Mode, prepared};
use nested::package::{package, package_cuda};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The report of `nested compile`.
#[derive(Debug, Serialize)]
pub struct CompileReport {
    /// The program's name.
    pub program: String,
    /// What the code is for.
    pub target: &'static str,
    /// How floating-point numbers are summed.
    pub mode: Mode,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Computations with their schedules and policies.
    pub implementations: Vec<String>,
    /// Sequences that are stored and not handed out.
    pub temporaries: Vec<String>,
}

/// Writes code.
///
/// # Errors
/// Mistakes in the program, rules that are violated, a folder that cannot be written.
pub fn compile(arguments: &CompileArguments) -> Result<CompileReport> {
    let loaded = load(&arguments.program.program)?;
    let (_, list, _) = prepared(&loaded.program);
    let mode = if arguments.implementation.fast { Mode::Fast } else { Mode::Deterministic };
    let (target, (files, generated), chosen) = match arguments.target {
        TargetName::OpenMp => {
            let chosen = implementations(&list, &arguments.implementation)?;
            let made = package(&loaded.program, &chosen, mode);
            let shown: Vec<_> = chosen.iter().map(|own| (own.schedule(), own.policy())).collect();
            ("openmp", made, shown)
        }
        TargetName::Cuda => {
            let chosen = gpu_implementations(&list, &arguments.implementation)?;
            let made = package_cuda(&loaded.program, &chosen, mode).map_err(refused)?;
            let shown: Vec<_> = chosen.iter().map(|own| (own.schedule.clone(), own.policy())).collect();
            ("cuda", made, shown)
        }
    };
    let inputs: Vec<PathBuf> = loaded.file.into_iter().collect();
    let folder = OutputFolder::new(&arguments.output, &inputs, arguments.force)?;
    let files: Vec<NewFile<'_>> =
        files.iter().map(|file| (Path::new(&file.name), file.text.as_bytes())).collect();
    let (_, written) = folder.write(&files)?;
    let shown = list.iter().zip(&chosen).filter(|(own, _)| !own.sequence.is_empty());
    let shown = shown.map(|(own, (schedule, policy))| {
        format!("{}: {}; {policy}", own.name, nested::analysis::schedule::text(schedule))
    });
    Ok(CompileReport {
        program: loaded.program.name.clone(),
        target,
        mode,
        files: written,
        implementations: shown.collect(),
        temporaries: generated.temporaries,
    })
}

impl Report for CompileReport {
    const SCHEMA: &'static str = "tilewright.nested.compile/1";

    fn text(&self) -> String {
        let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
        let temporaries =
            if self.temporaries.is_empty() { "none".to_owned() } else { self.temporaries.join(", ") };
        crate::report::pairs(&[
            ("program", self.program.clone()),
            ("computations", self.implementations.join("\n")),
            ("temporaries", temporaries),
            ("files", files.join("\n")),
        ])
    }
}
