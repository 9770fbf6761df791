//! `tilewright cache`: what the cache of compiled programs takes up, and how to make it smaller.

use crate::error::{Error, Result};
use crate::report::{self, Report};
use clap::{Args, ValueEnum};
use execution::ExecutionError;
use serde::Serialize;
use std::path::PathBuf;
use tilewright::{state, text};
use toolchain::cache::{self, Cache, Usage};

/// Arguments of `cache`.
#[derive(Debug, Args)]
pub struct CacheArguments {
    /// What to do
    #[arg(value_name = "ACTION", default_value = "show")]
    pub action: Action,
    /// For prune: what the entries may take up, in MiB; the usual limit where not given
    #[arg(long, value_name = "MIB", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(0..=1 << 40))]
    pub most: Option<u64>,
}

/// What to do with the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Action {
    /// Say where it is and what it takes up
    Show,
    /// Remove what was not used for the longest time
    Prune,
    /// Remove everything
    Clear,
}

/// The report of `cache`.
#[derive(Debug, Serialize)]
pub struct CacheReport {
    /// The folder.
    pub folder: PathBuf,
    /// Compiled programs and kernels that it holds.
    pub entries: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// Bytes that it may take up before the least recently used entries go.
    pub limit_bytes: u64,
    /// Entries that this call removed.
    pub removed_entries: u64,
    /// Bytes that this call removed.
    pub removed_bytes: u64,
    /// The folder of trials and calibrations, which are never pruned; null where nothing says where it is.
    pub state_folder: Option<PathBuf>,
    /// Files in it.
    pub state_files: u64,
    /// Their bytes.
    pub state_bytes: u64,
}

/// Shows, prunes or clears the user's cache.
///
/// # Errors
/// A folder that is not safe or cannot be used, entries that cannot be removed, and `--most` where nothing is pruned.
pub fn cache(arguments: &CacheArguments) -> Result<CacheReport> {
    if arguments.most.is_some() && arguments.action != Action::Prune {
        return Err(Error::wrong_input("--most says how much `tilewright cache prune` leaves"));
    }
    let cache = Cache::open()?;
    let failed =
        |source| ExecutionError::File { action: "clean up", path: cache.folder().to_owned(), source };
    let limit_bytes = cache::limit();
    let most = arguments.most.map_or(limit_bytes, |most| most.saturating_mul(1 << 20));
    let removed = match arguments.action {
        Action::Show => Usage::default(),
        Action::Prune => cache.prune(most).map_err(failed)?,
        Action::Clear => cache.clear().map_err(failed)?,
    };
    let Usage { entries, bytes } = cache.usage();
    let state = state::usage();
    Ok(CacheReport {
        folder: cache.folder().to_owned(),
        entries,
        bytes,
        limit_bytes,
        removed_entries: removed.entries,
        removed_bytes: removed.bytes,
        state_folder: state::user_folder(),
        state_files: state.files,
        state_bytes: state.bytes,
    })
}

impl Report for CacheReport {
    const SCHEMA: &'static str = "tilewright.cache/1";

    fn text(&self) -> String {
        let amount = |entries, bytes: u64| {
            format!("{}, {}", text::count(entries, "entry", "entries"), report::bytes(bytes as f64))
        };
        let mut lines = vec![
            ("folder", self.folder.display().to_string()),
            ("holds", amount(self.entries, self.bytes)),
            ("limit", report::bytes(self.limit_bytes as f64)),
        ];
        if self.removed_entries > 0 {
            lines.push(("removed", amount(self.removed_entries, self.removed_bytes)));
        }
        if let Some(folder) = &self.state_folder {
            let files = text::count(self.state_files, "file", "files");
            let bytes = report::bytes(self.state_bytes as f64);
            lines.push(("state", format!("{}: {files}, {bytes}; never pruned", folder.display())));
        }
        report::pairs(&lines)
    }
}
