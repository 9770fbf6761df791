//! `tilewright check`: a C program and its rewritten form, built, run and compared.

use crate::arguments::{ArithmeticArguments, ChoiceArguments, PlanArguments, TargetName, TileByName};
use crate::compile::{self, arguments::CompileArguments};
use crate::error::{Error, Result};
use crate::progress::Session;
use crate::report::{self, Report};
use clap::Args;
use execution::equivalence::{self, Build, Comparison, Request};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tilewright::c_program::{self, CSource};

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The program and its tiling.
    #[command(flatten)]
    pub plan: PlanArguments,
    /// Language of the tiled code
    #[arg(long, default_value = "openmp", value_name = "TARGET", value_parser = ["openmp"])]
    pub target: String,
    /// Another source of the same C program; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "C files")]
    pub with: Vec<PathBuf>,
    /// Link this library, too, as C compilers do; may be repeated
    #[arg(short = 'l', value_name = "NAME", help_heading = "C files")]
    pub library: Vec<String>,
    /// What both programs read from stdin
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// A file that both programs find in their folders; may be repeated
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// Do not compare lines of stdout with this text, such as times; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub ignore: Vec<String>,
    /// Longest time of each run in seconds
    #[arg(long, value_name = "S", default_value_t = 60, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub timeout: u64,
    /// Number of threads of the tiled code; all cores where not given
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub threads: Option<u64>,
    /// Build both with checks of accesses and of undefined behaviour (-fsanitize=address,undefined)
    #[arg(long)]
    pub sanitize: bool,
    /// Build both with -O1, or with --sanitize with -O0, which takes less time
    #[arg(long)]
    pub quick: bool,
    /// Arguments of both programs
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<std::ffi::OsString>,
}

/// The report of `check`.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    /// The program's file.
    pub program: PathBuf,
    /// Name of the stencil.
    pub stencil: String,
    /// Tiling strategy.
    pub strategy: &'static str,
    /// Tile sizes.
    pub tile: String,
    /// What was found.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Whether tiled code ran; null where the program does not tell.
    pub tiled: Option<bool>,
}

/// Compiles the program into a folder of its own, and compares.
///
/// # Errors
/// A program that is not accepted, or whose original cannot be built or does not end.
pub fn check(arguments: &CheckArguments, session: &Session) -> Result<CheckReport> {
    let path = Path::new(&arguments.plan.spec);
    if path.extension().is_none_or(|extension| extension != "c") {
        return Err(Error::wrong_input(format!("`{}` is not a C file", arguments.plan.spec))
            .hint("`run --verify` compares a stencil with the reference interpreter"));
    }
    for file in arguments.file.iter().chain(&arguments.stdin) {
        if !file.is_file() {
            return Err(Error::wrong_input(format!("there is no file `{}`", file.display())));
        }
    }
    let failed = |error: std::io::Error| Error::Request {
        kind: crate::error::Kind::Failed,
        message: format!("no temporary folder: {error}"),
        hints: Vec::new(),
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let _temporary = toolchain::interrupt::register(folder.path());
    let compiled = compile::compile(&compile_arguments(arguments, folder.path()), session)?;
    let options = arguments.plan.c.options();
    let (original, sources, own_openmp) = match &compiled.c {
        Some(c) => {
            let source = CSource { programs: &[c], options: &options };
            (c_program::file(c), c_program::other_sources(&source)?, c_program::own_openmp(c))
        }
        None => (path, Vec::new(), false),
    };
    let request = Request {
        original,
        sources: &sources,
        own_openmp,
        defines: &options.defines,
        include_dirs: &options.include_dirs,
        libraries: &arguments.library,
        rewritten: folder.path(),
        arguments: &arguments.arguments,
        stdin: arguments.stdin.as_deref(),
        files: &arguments.file,
        ignore: &arguments.ignore,
        build: match () {
            () if arguments.sanitize && arguments.quick => Build::SanitizedQuick,
            () if arguments.sanitize => Build::Sanitized,
            () if arguments.quick => Build::Quick,
            () => Build::Usual,
        },
        timeout: Duration::from_secs(arguments.timeout),
        threads: arguments.threads,
    };
    let comparison = session.stage("build, run and compare", || equivalence::compare(&request))?;
    let counted = !comparison.regions.is_empty();
    Ok(CheckReport {
        program: path.to_owned(),
        stencil: compiled.facts.stencil,
        strategy: compiled.facts.strategy,
        tile: compiled.facts.tile_text,
        tiled: counted.then(|| comparison.regions.iter().any(|region| region.tiled > 0)),
        comparison,
    })
}

fn compile_arguments(arguments: &CheckArguments, folder: &Path) -> CompileArguments {
    let plan = &arguments.plan;
    CompileArguments {
        plan: PlanArguments {
            spec: plan.spec.clone(),
            c: plan.c.clone(),
            strategy: plan.strategy.clone(),
            tile: plan.tile.clone(),
            dtype: plan.dtype,
            dump: None,
        },
        target: TargetName::OpenMp,
        size: None,
        steps: None,
        machine: None,
        arithmetic: ArithmeticArguments::default(),
        choice: ChoiceArguments { tile_by: Some(TileByName::Default), no_calibrate: true },
        output: folder.to_owned(),
        with: arguments.with.clone(),
        adaptive: None,
        prefix: None,
        ranks: None,
        force: false,
    }
}

impl Report for CheckReport {
    const SCHEMA: &'static str = "tilewright.check/1";

    fn text(&self) -> String {
        let found = &self.comparison;
        let mut lines = vec![
            ("program", self.program.display().to_string()),
            ("tiling", format!("{} {}", self.strategy, self.tile)),
            ("result", if found.equal { "equal" } else { "different" }.to_owned()),
        ];
        if let Some(first) = &found.first_difference {
            let place = match (first.line, first.column) {
                (Some(line), Some(column)) => format!("{}, line {line}, byte {column}", first.place),
                _ => first.place.clone(),
            };
            lines.push(("difference", place));
            lines.push(("original", first.original.clone()));
            lines.push(("rewritten", first.rewritten.clone()));
        }
        lines.push(("stdout", if found.stdout_equal { "equal" } else { "different" }.to_owned()));
        let end = match &found.end {
            end if end.original == end.rewritten => end.original.clone(),
            end => format!("{}, rewritten {}", end.original, end.rewritten),
        };
        lines.push(("end", end));
        let files = match (found.files.len(), found.files.values().filter(|equal| !**equal).count()) {
            (0, _) => "none".to_owned(),
            (all, 0) => format!("{all} equal"),
            (all, different) => format!("{different} of {all} different"),
        };
        lines.push(("files", files));
        let mut runs = Vec::new();
        for region in &found.regions {
            let reason = region.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            runs.push(format!(
                "{}: {} in tiles, {} as written{reason}",
                region.name, region.tiled, region.original
            ));
        }
        if runs.is_empty() {
            runs.push("not counted".to_owned());
        }
        lines.push(("runs", runs.join("\n")));
        let stderr = &found.stderr.rewritten;
        if !stderr.trim().is_empty() && *stderr != found.stderr.original {
            let last: Vec<&str> = stderr.lines().take(12).collect();
            lines.push(("stderr", last.join("\n")));
        }
        report::pairs(&lines)
    }

    fn passed(&self) -> bool {
        self.comparison.equal
    }
}
