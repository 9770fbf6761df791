//! `tilewright manual`: manual pages of all commands, for `man`.

use crate::error::{Error, Result};
use crate::report::{self, Report};
use clap::{Args, Command};
use execution::{ExecutionError, output_file};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `manual`.
#[derive(Debug, Args)]
pub struct ManualArguments {
    /// Folder to write to; it is made where there is none
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// The comment that every page begins with. By it a page of ours is known, and nothing else is overwritten.
const MARK: &str = ".\\\" Written by `tilewright manual`.\n";

/// The report of `manual`.
#[derive(Debug, Serialize)]
pub struct ManualReport {
    /// The pages, one per command.
    pub files: Vec<PathBuf>,
}

/// Writes the pages, each complete or not at all.
///
/// # Errors
/// A folder that cannot be written, or a file of another origin in it that has the name of a page.
pub fn manual(arguments: &ManualArguments, command: Command) -> Result<ManualReport> {
    let folder = &arguments.output;
    let failed = |action| {
        move |source| Error::Execution(ExecutionError::File { action, path: folder.clone(), source })
    };
    let pages = pages(command).map_err(failed("write"))?;
    for (name, _) in &pages {
        refuse_others(&folder.join(name))?;
    }
    std::fs::create_dir_all(folder).map_err(failed("write"))?;
    let mut files = Vec::new();
    for (name, text) in pages {
        let path = folder.join(name);
        output_file::write(&path, |file| file.write_all(&text))?;
        files.push(path);
    }
    Ok(ManualReport { files })
}

/// Names and texts: `tilewright.1`, then `tilewright-COMMAND.1` for each command.
fn pages(command: Command) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut root = command.disable_help_subcommand(true);
    // Global options reach the commands.
    root.build();
    let page = |command: &clap::Command, name: String| -> std::io::Result<(String, Vec<u8>)> {
        let mut text = MARK.as_bytes().to_vec();
        clap_mangen::Man::new(command.clone()).title(name.clone()).render(&mut text)?;
        Ok((name + ".1", text))
    };
    let mut pages = vec![page(&root, "tilewright".to_owned())?];
    for command in root.get_subcommands() {
        pages.push(page(command, format!("tilewright-{}", command.get_name()))?);
        for action in command.get_subcommands() {
            let name = format!("tilewright-{}-{}", command.get_name(), action.get_name());
            pages.push(page(action, name)?);
        }
    }
    Ok(pages)
}

fn refuse_others(path: &Path) -> Result<()> {
    if !path.try_exists().unwrap_or(true) {
        return Ok(());
    }
    if std::fs::read(path).is_ok_and(|text| text.starts_with(MARK.as_bytes())) {
        return Ok(());
    }
    Err(Error::wrong_input(format!("{} exists, and `tilewright manual` did not write it", path.display()))
        .hint("name another folder, or move the file away"))
}

impl Report for ManualReport {
    const SCHEMA: &'static str = "tilewright.manual/1";

    fn text(&self) -> String {
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        report::pairs(&[("files", files.join("\n"))])
    }
}
