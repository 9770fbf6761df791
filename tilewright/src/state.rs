//! The user's state folder: trials and calibrations that are kept under a name. Unlike the cache it is never pruned: what
//! is in it cannot be made again at will.
//!
//! Where a file of trials or a machine file is asked for, `@NAME` is the one of this name in the state folder.

use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};
use text_escape::suggest;
use toolchain::cache::own_folder;

/// Kinds of files in the state folder: each has a folder of its own, and endings of which the first is that of new files.
struct Kind {
    folder: &'static str,
    what: &'static str,
    endings: &'static [&'static str],
}

const TRIALS: Kind = Kind {
    folder: "trials",
    what: "trials",
    endings: if cfg!(feature = "sqlite") { &["db", "jsonl"] } else { &["jsonl", "db"] },
};
const MACHINES: Kind = Kind { folder: "machines", what: "machine", endings: &["toml"] };

/// The name under which `calibrate` keeps this machine where no file is named.
pub const HERE: &str = "@here";

/// What the state folder takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The user's state folder: `$TILEWRIGHT_STATE`, else `$XDG_STATE_HOME/tilewright`, else `~/.local/state/tilewright`, on
/// macOS `~/Library/Application Support/tilewright`; `None` where no variable says where that is. Of the last two, paths
/// that are not absolute count as none, as the XDG specification has it.
pub fn user_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let usual = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    variable("TILEWRIGHT_STATE")
        .or_else(|| absolute("XDG_STATE_HOME").map(|folder| folder.join("tilewright")))
        .or_else(|| absolute("HOME").map(|home| home.join(usual).join("tilewright")))
}

/// What the state folder takes up; nothing where there is none.
pub fn usage() -> Usage {
    let mut usage = Usage::default();
    let mut folders: Vec<PathBuf> = user_folder().into_iter().collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) => {
                    usage.files += 1;
                    usage.bytes += metadata.len();
                }
                Err(_) => {}
            }
        }
    }
    usage
}

/// A file of trials that is going to be written: `@NAME` as its path.
///
/// # Errors
/// A state folder that is not the user's alone, or cannot be made; a name that is none.
pub fn trials_to_write(path: &Path) -> Result<PathBuf> {
    to_write(path, &TRIALS)
}

/// A file of trials that is there.
///
/// # Errors
/// As for [`trials_to_write`]; no trials of this name.
pub fn trials_to_read(path: &Path) -> Result<PathBuf> {
    to_read(path, &TRIALS)
}

/// A machine file that is going to be written.
///
/// # Errors
/// As for [`trials_to_write`].
pub fn machine_to_write(path: &Path) -> Result<PathBuf> {
    to_write(path, &MACHINES)
}

/// A machine file that is there.
///
/// # Errors
/// As for [`trials_to_read`].
pub fn machine_to_read(path: &Path) -> Result<PathBuf> {
    to_read(path, &MACHINES)
}

fn to_write(path: &Path, kind: &Kind) -> Result<PathBuf> {
    let Some(name) = name(path)? else { return Ok(path.to_owned()) };
    let folder = folder(kind)?;
    Ok(existing(&folder, &name, kind).unwrap_or_else(|| with_ending(&folder, &name, kind.endings[0])))
}

fn to_read(path: &Path, kind: &Kind) -> Result<PathBuf> {
    let Some(name) = name(path)? else { return Ok(path.to_owned()) };
    // Looking for a file makes no folder.
    let folder = match user_folder().map(|state| state.join(kind.folder)) {
        Some(missing) if !missing.exists() => missing,
        _ => folder(kind)?,
    };
    existing(&folder, &name, kind).ok_or_else(|| {
        let names = names(&folder, kind);
        let known = match names.as_slice() {
            [] => format!("the folder {} has none yet", folder.display()),
            names => format!("it has {}", names.join(", ")),
        };
        Error::wrong_input(format!("the state folder has no {} `@{name}`", kind.what))
            .maybe_hint(suggest::hint(&format!("@{name}"), names.iter().map(String::as_str)))
            .hint(known)
    })
}

/// The name behind the `@`; `None` for a path.
fn name(path: &Path) -> Result<Option<String>> {
    let Some(name) = path.to_str().and_then(|text| text.strip_prefix('@')) else { return Ok(None) };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        let reason = format!("`@{name}` names nothing in the state folder");
        return Err(Error::wrong_input(reason).hint(
            "a name has letters, digits, `-`, `_` and points; a file whose name begins with @ is ./@...",
        ));
    }
    Ok(Some(name.to_owned()))
}

/// The folder of a kind of files, made if needed.
fn folder(kind: &Kind) -> Result<PathBuf> {
    let Some(state) = user_folder() else {
        return Err(Error::infeasible("nothing says where the state folder is")
            .hint("set TILEWRIGHT_STATE or HOME, or name a file"));
    };
    let own = own_folder(&state).and_then(|state| own_folder(&state.join(kind.folder)));
    own.map_err(|error| match error {
        toolchain::Error::UnsafeCache { path, problem } => {
            Error::wrong_input(format!("the state folder {} is not safe: {problem}", path.display()))
        }
        error => error.into(),
    })
}

fn with_ending(folder: &Path, name: &str, ending: &str) -> PathBuf {
    folder.join(format!("{name}.{ending}"))
}

fn existing(folder: &Path, name: &str, kind: &Kind) -> Option<PathBuf> {
    kind.endings.iter().map(|ending| with_ending(folder, name, ending)).find(|path| path.exists())
}

/// The names that there are, as they are to be written.
fn names(folder: &Path, kind: &Kind) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let name = |path: PathBuf| {
        let ending = path.extension()?.to_str()?;
        kind.endings.contains(&ending).then(|| Some(format!("@{}", path.file_stem()?.to_str()?)))?
    };
    let mut names: Vec<String> = files.filter_map(name).collect();
    names.sort();
    names.dedup();
    names
}
